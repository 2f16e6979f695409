"""Tests of the pipelines in a real Scrapy crawl in a subprocess."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.contracts.articles import counts_of
from tests.waiting import PATIENCE
from topiccrawl.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

CRAWL = """
import asyncio, json, resource, sys, warnings
warnings.simplefilter("error")
warnings.filterwarnings("ignore", message=".*invalid escape sequence")
from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess
from topiccrawl.model import Article, Unfinished
from topiccrawl.text.digest import digest_of
from topiccrawl.storage.contract import StoreListener

folder, case = sys.argv[1], sys.argv[2]
events = []
first_stored = asyncio.Event()

def article(number, text=None, size=1):
    label = number if text is None else text
    body = f"第{label}场比赛昨晚在体育中心结束，主队以三比零获胜，球迷庆祝到深夜。" * size
    return Article(f"http://site{number}.test/", f"第{number}篇", body, site=f"site{number}.test",
                   topics={"足球": 0.5}, terms=(("比赛", 1.0),), digest=digest_of(body))

class Items(Spider):
    name = "items"

    async def start(self):
        for number in range({"reprints": 3, "full": 60, "heard": 2, "journal": 4}[case]):
            yield Request(f"data:,{number}", cb_kwargs={"number": number})
            if case == "full":  # the first article has a transaction of its own
                await first_stored.wait()

    async def parse(self, response, number):
        if case in {"full", "journal"}:
            yield article(number, size=3000)
        elif case == "heard":
            if number:
                await first_stored.wait()
            yield article(1, size=2) if number else Unfinished(article(1))
        elif number == 0:
            yield {"an": "item of another kind"}
            yield article(1)
        else:
            await first_stored.wait()
            yield article(2) if number == 1 else article(3, text=1)

def seen(kind):
    def note(item, **rest):
        error = rest.get("exception") or getattr(rest.get("failure"), "value", "")
        events.append([kind, item.url if isinstance(item, Article) else "", str(error)])
        if kind == "scraped" and isinstance(item, Article):
            first_stored.set()
    return note

class Listener(StoreListener):
    def __init__(self, count):
        self.count = count

    async def article_storing(self, articles):
        events.append(["storing", *(article.url for article in articles)])

    async def article_stored(self, articles, saved):
        events.append(["stored", *(one.fate for one in saved)])
        first_stored.set()
        self.count("heard/stored")

    async def article_continues(self, url):
        events.append(["continues", url])

    async def article_complete(self, url):
        events.append(["complete", url])

def listens(settings, store, count):
    return Listener(count) if settings["HEARD"] else None

handlers = [(seen("scraped"), signals.item_scraped), (seen("dropped"), signals.item_dropped),
            (seen("error"), signals.item_error)]
process = AsyncCrawlerProcess({
    "TOPICCRAWL_DATA_DIR": folder,
    "EXTENSIONS": {"topiccrawl.extensions.jsonlog.PlainLog": 99},
    "ITEM_PIPELINES": {"topiccrawl.pipelines.store.StorePipeline": 300,
                       "topiccrawl.pipelines.dedup.DedupPipeline": 400},
    "TOPICCRAWL_STORE_LISTENERS": {listens: 100},
    "HEARD": case == "heard",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "LOG_LEVEL": "ERROR",
    "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    "DOWNLOAD_DELAY": 0,
    "FEEDS": {folder + "/out.jsonl": {"format": "jsonlines", "encoding": "utf-8"}}
             if case == "reprints" else {},
})
crawler = process.create_crawler(Items)
for handler, signal in handlers:
    crawler.signals.connect(handler, signal=signal)
if case == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))
process.crawl(crawler)
process.start()
stats = crawler.stats.get_stats()
print(json.dumps({"events": events, "stats": {
    key: value for key, value in stats.items() if isinstance(value, (str, int))}}))
"""


def crawl(folder: Path, case: str) -> dict[str, Any]:
    command = [sys.executable, "-c", CRAWL, str(folder), case]
    completed = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert completed.returncode == 0, completed.stderr
    result: dict[str, Any] = json.loads(completed.stdout)
    return {**result, "log": completed.stderr}


def counts(folder: Path) -> dict[str, int]:
    async def read() -> dict[str, int]:
        store = SqliteStore(folder)
        await store.open()
        try:
            return await counts_of(store)
        finally:
            await store.close()

    return asyncio.run(read())


def test_articles_are_exported_and_reprints_dropped_after_commit(
    tmp_path: Path,
) -> None:
    result = crawl(tmp_path, "reprints")
    kinds = sorted((kind, url) for kind, url, _ in result["events"])
    assert kinds == [
        ("dropped", "http://site3.test/"),
        ("scraped", ""),
        ("scraped", "http://site1.test/"),
        ("scraped", "http://site2.test/"),
    ]
    (reason,) = [text for kind, _, text in result["events"] if kind == "dropped"]
    assert reason == "duplicate: http://site3.test/ reprints http://site1.test/"
    stats = result["stats"]
    assert (stats["topiccrawl/articles"], stats["topiccrawl/duplicates"]) == (2, 1)
    assert stats["finish_reason"] == "finished"  # fewer items than a group: the timer commits
    assert counts(tmp_path) == {"articles": 2, "reprints": 1, "topic/足球": 2}
    text = (tmp_path / "out.jsonl").read_text("utf-8")
    rows = [row for row in map(json.loads, text.splitlines()) if "url" in row]
    assert '"title": "第1篇"' in text
    first = min(rows, key=lambda row: str(row["url"]))
    assert first["topics"] == {"足球": 0.5}
    assert first["terms"] == [["比赛", 1.0]]


def test_full_disk_causes_item_errors_and_ends_the_crawl(tmp_path: Path) -> None:
    result = crawl(tmp_path, "full")
    stored = {url for kind, url, _ in result["events"] if kind == "scraped"}
    errors = [text for kind, _, text in result["events"] if kind == "error"]
    assert "http://site0.test/" in stored
    assert len(errors) >= 3
    assert all("store.sqlite: cannot write" in text for text in errors)
    assert result["stats"]["finish_reason"] == "store-failed"
    assert result["stats"]["topiccrawl/storage_errors"] == len(errors)
    assert "The crawl ends, articles cannot be stored" in result["log"]
    assert "Traceback" not in result["log"]
    assert counts(tmp_path)["articles"] == len(stored)


def test_unwritable_journal_causes_item_errors_and_ends_the_crawl(tmp_path: Path) -> None:
    (tmp_path / "acknowledged").touch()  # no folder
    result = crawl(tmp_path, "journal")
    errors = [text for kind, _, text in result["events"] if kind == "error"]
    assert len(errors) >= 3
    assert all("acknowledged: cannot be written" in text for text in errors)
    assert result["stats"]["finish_reason"] == "store-failed"
    assert "The crawl ends, articles cannot be stored" in result["log"]
    assert "Traceback" not in result["log"]


def test_listener_gets_partial_and_complete_saves(
    tmp_path: Path,
) -> None:
    result, url = crawl(tmp_path, "heard"), "http://site1.test/"
    events = [tuple(event[:2]) for event in result["events"]]
    dropped = events.index(("dropped", ""))
    assert dropped > events.index(("stored", "new"))  # the exact place depends on the loop
    assert events[:dropped] + events[dropped + 1 :] == [
        ("continues", url), ("storing", url), ("stored", "new"),
        ("storing", url), ("stored", "updated"), ("complete", url), ("scraped", url),
    ]  # fmt: skip
    stats = result["stats"]
    assert stats["heard/stored"] == 2
    assert stats["topiccrawl/articles"] == 1
    assert "topiccrawl/articles_updated" not in stats  # it is the same article
