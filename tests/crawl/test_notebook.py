"""The cells of the notebook in examples/ run on the data folder of a small crawl."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

import topiccrawl
from tests.crawl.run import ROOT, run
from tests.crawl.web import Web, article
from topiccrawl.errors import ConfigurationError, StateError

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

NEWS = "新能源汽车销量增长，电动汽车与动力电池企业加快布局，充电桩建设提速。"
PAGES = {
    "http://a.test/0": article("新能源汽车销量", NEWS, "http://a.test/1", "http://a.test/gone"),
    "http://a.test/1": article("电动汽车出口", "电动汽车出口创新高，港口忙碌。"),
}


def test_the_notebook_runs_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Web(PAGES) as web:
        arguments = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", "seeds=http://a.test/0")
        status, out = run(web.proxy, tmp_path / "data", *arguments)
    assert status == 0, out
    monkeypatch.chdir(tmp_path)
    cells = json.loads((ROOT / "examples" / "crawl.ipynb").read_text("utf-8"))["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)  # noqa: S102 - our own notebook
    assert sorted(names["articles"]["url"]) == ["http://a.test/0", "http://a.test/1"]
    assert dict(names["pages"]["queue"].value_counts()) == {"crawled": 2, "error": 1}
    assert names["history"]["pages"].iloc[-1] == 2
    data = topiccrawl.open(Path("data"))
    assert repr(data) == "DataFolder('data')"
    for day in (date(2026, 1, 31), datetime(2026, 1, 31, 9, tzinfo=UTC)):
        assert data.articles(since=day).equals(data.articles(since="2026-01-31"))
    found = data.articles("新能源汽车", words="出口")
    assert list(found["url"]) == ["http://a.test/1"]
    assert str(found["found"].dtype).endswith("UTC]")


def test_missing_crawls_and_missing_pandas_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StateError, match=rf"^{re.escape(str(tmp_path))}/own: no crawl has been "):
        topiccrawl.open("own")
    monkeypatch.setattr("topiccrawl.addons.notebook.folder.find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match=r"topiccrawl\[notebook\]"):
        topiccrawl.open(str(tmp_path))
