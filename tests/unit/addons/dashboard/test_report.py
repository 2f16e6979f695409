"""Tests of reports: completeness, both languages, and escaping."""

from __future__ import annotations

import asyncio
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from tests.unit.addons.dashboard.states import state
from topiccrawl.addons.dashboard.reporting import (
    Content,
    Curve,
    Site,
    chart,
    language_of,
    report_page,
    write_report,
)
from topiccrawl.errors import SettingError, StateError
from topiccrawl.messages import LANGUAGES, choose_language, localize
from topiccrawl.model import Article
from topiccrawl.storage.changes import ChangeLog, TopicChange
from topiccrawl.storage.contract import Listed
from topiccrawl.storage.runs import LocalRuns
from topiccrawl.storage.sqlite import SqliteStorage, SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

HTML = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
TEXT = "星澜电动车三月交付量创新高，动力电池供应跟上，充电桩建设同时加快。" * 20


def wild() -> Content:
    """Return content with markup in every text field."""
    run = state(
        topic=HTML,
        node=HTML,
        strategy=HTML,
        frontier=HTML,
        reason=HTML,
        version=HTML,
    )
    run["errors"] = {HTML: 3}
    listed = Listed("javascript:alert(1)", HTML, HTML, HTML, 0.0, 0.5, ((HTML, 0.1),), 2)
    reprint = {"url": f"http://a.test/{HTML}", "site": HTML, "similarity": 1.0}
    change = {
        "number": 1, "at": 0.0, "pages": 2, "reason": HTML, "came": [HTML], "went": [HTML],
    }  # fmt: skip
    more = {
        "chains": [{"article": listed._asdict(), "reprints": [reprint], "reprinted": 1}],
        "changes": [change],
    }
    return Content(run, more, 1, [listed], [Site(HTML, 4, 0.5)])


@pytest.mark.parametrize("language", LANGUAGES)
def test_page_text_is_escaped_in_reports(language: str) -> None:
    page = report_page(wild(), language)
    body = page[page.index("<body>") :]
    assert "<script" not in page
    assert "<img" not in page
    assert 'href="javascript' not in page
    assert "default-src 'none'" in page
    ET.fromstring(body[: body.index("</html>")])  # noqa: S314 - well-formed, and our own


def test_all_labels_are_translated() -> None:
    pages = [report_page(wild(), language) for language in ("en", "zh")]
    english, chinese = (re.findall(r"<(?:h[23]|th|p|span)[^>]*>([^<]*)<", page) for page in pages)
    assert len(english) == len(chinese)
    same = {one for one, other in zip(english, chinese, strict=True) if one == other}
    assert not [text for text in same if text.replace(" ", "").isalpha()]


def test_curves_of_long_crawls_are_bounded() -> None:
    run = state()
    run["series"]["points"] = [[float(n), n, n // 2, 0.5, n // 3] for n in range(1, 1201)]
    page = report_page(Content(run, {}, 0, [], []))
    lines = re.findall(r'<polyline class="\w+" points="([^"]*)"', page)
    assert [len(line.split()) <= 401 for line in lines] == [True] * 4
    run["series"]["points"] = [*run["series"]["points"][:1], run["series"]["points"][-1]]
    ends = re.findall(
        r'<polyline class="\w+" points="([^"]*)"', report_page(Content(run, {}, 0, [], []))
    )
    assert [line.split()[-1] for line in lines] == [line.split()[-1] for line in ends]


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), max_size=50))
def test_curve_is_drawn_inside_the_chart(points: list[tuple[float, float]]) -> None:
    made = chart("c", [Curve("c", "c", points)], x_text=str, y_text=str)
    line = ET.fromstring(made).find("polyline")  # noqa: S314 - our own
    assert line is not None
    for place in (line.get("points") or "").split():
        x, y = map(float, place.split(","))
        assert 0 <= x <= 720
        assert 0 <= y <= 260


def test_report_is_written_from_stored_data(tmp_path: Path) -> None:
    async def fill() -> None:
        store = SqliteStore(tmp_path)
        await store.open()
        first = Article(
            "http://a.test/1", "星澜交付", TEXT, site="a.test", topics={"新能源汽车": 0.5}
        )
        again = Article(
            "http://b.test/1", "星澜交付", TEXT, site="b.test", topics={"新能源汽车": 0.4}
        )
        await store.save([first])
        await store.save([again])
        await store.close()

    asyncio.run(fill())
    change = TopicChange("新能源汽车", "f", 1, 0.0, "words", "why", 9, {"甲": 1.0}, {"乙": 0.5})
    ChangeLog(SqliteStorage(tmp_path)).add(change, {})
    settings = Settings({"TOPICCRAWL_DATA_DIR": str(tmp_path)})
    path = tmp_path / "new" / "r.html"
    asyncio.run(LocalRuns(tmp_path).put(state()))
    asyncio.run(write_report(path, settings, language="zh"))
    page = path.read_text(encoding="utf-8")
    for text in ("星澜交付", "http://a.test/1", "http://b.test/1", "+乙", "−甲", "40.0%", "收获率"):
        assert text in page, text


def test_topic_is_reported_after_another_topic_used_its_frontier(tmp_path: Path) -> None:
    async def record() -> None:
        for began, topic in enumerate(("足球", "篮球")):
            await LocalRuns(tmp_path).put(state(topic=topic, began=float(began), finished=9.0))

    asyncio.run(record())
    settings, path = Settings({"TOPICCRAWL_DATA_DIR": str(tmp_path)}), tmp_path / "r.html"
    asyncio.run(write_report(path, settings, topic="足球", language="zh"))
    assert "<h1>足球</h1>" in path.read_text(encoding="utf-8")


def test_unknown_topics_and_languages_are_errors(tmp_path: Path) -> None:
    settings = Settings({"TOPICCRAWL_DATA_DIR": str(tmp_path)})
    asyncio.run(LocalRuns(tmp_path).put(state()))
    report = write_report(tmp_path / "r", settings, topic="足球", language="en")
    with pytest.raises(StateError, match="足球"):
        asyncio.run(report)
    with pytest.raises(SettingError, match="en or zh") as error:
        language_of(Settings({"TOPICCRAWL_REPORT_LANGUAGE": "fr"}))
    choose_language("zh")
    try:
        assert "请写 en 或 zh" in localize(error.value)
    finally:
        choose_language("")


def test_errors_of_reports_are_chinese_as_a_whole(tmp_path: Path) -> None:
    choose_language("zh")
    try:
        settings = Settings({"TOPICCRAWL_DATA_DIR": str(tmp_path)})
        with pytest.raises(StateError) as missing:
            asyncio.run(write_report(tmp_path / "r", settings, topic="足球", language="en"))
        assert "抓取主题 '足球'的记录" in localize(missing.value)
    finally:
        choose_language("")
