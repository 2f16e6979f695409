"""A crawl and commands with another storage, named by a setting."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from examples.jsonstore import JsonStorage
from tests.crawl.run import run
from tests.crawl.web import Page, Web, article
from topiccrawl.storage.pages import Pages

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"
PAGES: dict[str, Page] = {
    f"{SITE}/": article("新能源汽车频道", TEXT, *(f"{SITE}/2026/{n}.html" for n in (1, 2, 3))),
    **{
        f"{SITE}/2026/{n}.html": article(
            f"新能源汽车报道第{n}篇", f"{TEXT * 2}第{n}家工厂开工。" * n
        )
        for n in (1, 2, 3)
    },
}
CRAWL = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={SITE}/", "-a", "watch=once")
STORAGE = {"TOPICCRAWL_STORAGE": "examples.jsonstore.JsonStorage"}


@pytest.mark.slow
def test_crawl_and_commands_use_the_named_storage(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Web(PAGES) as web:
        run(web.proxy, data, *CRAWL, **STORAGE)
        status, out = run(web.proxy, data, *CRAWL, **STORAGE)  # finds the state of the first run
        assert (status, "Traceback" in out) == (0, False), out[-3000:]
        assert f"stored in  {data / 'store.jsonl'} (articles)" in out
        status, out = run(web.proxy, data, "articles", "list", "--json", **STORAGE)
        listed = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        assert (status, bool(listed)) == (0, True), out[-3000:]
        assert {one["topics"]["新能源汽车"] > 0 for one in listed} == {True}
        status, out = run(web.proxy, data, "why", listed[0]["url"], **STORAGE)
        assert (status, "watched    as detail" in out) == (0, True), out[-3000:]
        name = listed[0]["url"]
        status, out = run(web.proxy, data, "articles", "forget", name, **STORAGE)
        assert (status, "1 article deleted" in out) == (0, True), out[-3000:]
    with closing(sqlite3.connect(data / "store.sqlite")) as own:  # the log of crawls only
        assert own.execute("SELECT count(*) FROM articles").fetchone() == (0,)

    async def state() -> object:
        async with Pages(JsonStorage(data)) as pages:
            return await pages.get("新能源汽车", [name])

    assert asyncio.run(state()) == {}


def test_invalid_storage_is_refused_in_one_line(tmp_path: Path) -> None:
    named = {"TOPICCRAWL_STORAGE": "examples.jsonstore.Nothing"}
    with Web(PAGES) as web:
        status, out = run(web.proxy, tmp_path / "data", *CRAWL, **named)
        assert web.hits == []
    assert status == 2, out[-3000:]
    assert "Nothing' is not a storage class" in out
    assert "Traceback" not in out
