"""Tests of faults that could pass unnoticed: they end in one line and a status."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import lmdb
import pytest

from tests.contracts.articles import article as stored_article
from tests.crawl.run import ROOT, command, run
from tests.crawl.web import Page, Web, article
from topiccrawl.addons.mongodb.storage import MongoStorage
from topiccrawl.frontier.store import ABOUT, OWNER
from topiccrawl.scheduler.hooks import LEASE
from topiccrawl.storage.database import FILE
from topiccrawl.storage.schema import STEPS, migrate
from topiccrawl.storage.sqlite import SqliteStorage
from topiccrawl.storage.version import VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.storage.contract import ArticleStore

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"
TOPIC = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={SITE}/")
PAGES: dict[str, Page] = {
    f"{SITE}/": article("新能源汽车频道", TEXT, f"{SITE}/1"),
    f"{SITE}/1": article("新能源汽车销量创新高", TEXT + "一。"),
}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SPIDER_MIDDLEWARES", "{}", f"lacks {LEASE}"),
        ("DOWNLOADER_MIDDLEWARES", "{}", "RobotsTxtMiddleware"),
        ("EXTENSIONS", "{}", "lacks topiccrawl.extensions.jsonlog.PlainLog"),
        ("SCHEDULER", "scrapy.core.scheduler.Scheduler", "this spider needs the frontier"),
    ],
)
def test_crawl_without_our_components_is_refused_in_one_line(
    tmp_path: Path, name: str, value: str, words: str
) -> None:
    with Web(PAGES) as web:
        status, out = run(web.proxy, tmp_path / "data", *TOPIC, **{name: value})
        assert web.hits == []
    lines = [line for line in out.splitlines() if words in line]
    assert (status, len(lines), "Traceback" in out) == (2, 1, False), out[-3000:]
    assert name in lines[0]


def test_wrong_argument_is_in_the_log_file(tmp_path: Path) -> None:
    log = tmp_path / "job.log"  # as scrapyd starts it
    status, out = run("", tmp_path / "data", *TOPIC, "-a", "seed=x", LOG_FILE=str(log))
    assert (status, "did you mean seeds?" in out) == (2, True)
    assert "did you mean seeds?" in log.read_text()


@pytest.mark.parametrize("seeds", ["foo", "ftp://news.test/", ","])
def test_seed_that_cannot_be_used_is_the_only_message_below_the_log(
    tmp_path: Path, seeds: str
) -> None:
    arguments = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={seeds}")
    status, out = run("", tmp_path / "data", *arguments, LOG_ENABLED="0")
    (line,) = out.splitlines()
    assert (status, line.startswith("ERROR: argument seeds")) == (2, True), out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "nosuch"), "there is no spider 'nosuch': SPIDER_MODULES has "),
        (("fetch", "--spider", "nosuch", SITE), "there is no spider 'nosuch': SPIDER_MODULES has "),
        (("parse", "--spider", "nosuch", SITE), "there is no spider 'nosuch': SPIDER_MODULES has "),
        (("check", "topic", "-a", "seeds"), "-a seeds: write -a NAME=VALUE"),
        ((*TOPIC, "-a", "seeds"), "-a seeds: write -a NAME=VALUE"),
        ((*TOPIC, "-s", "LOG_FILE"), "-s LOG_FILE: write -s NAME=VALUE"),
        (("parse", "--spider", "topic", SITE), "no topic: give -a topic=WORDS"),
        (("parse", "--spider", "unqueued", SITE), "SCHEDULER is 'scrapy.core.scheduler.Scheduler'"),
        (("list", "-L", "LOUD"), "LOG_LEVEL is 'LOUD': write DEBUG, INFO,"),
        ((*TOPIC, "-L", "LOUD"), "LOG_LEVEL is 'LOUD': write DEBUG, INFO,"),
    ],
)
def test_unusable_words_of_the_command_line_are_named_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    status, out = run("", tmp_path / "data", *arguments, LOG_ENABLED="0")
    (line,) = out.splitlines()
    assert (status, line.startswith(f"ERROR: {message}")) == (2, True), out


def test_crawl_on_an_unreadable_frontier_fails_whatever_closes_it(tmp_path: Path) -> None:
    _write_meta(tmp_path / "data" / "frontiers" / "named", OWNER, b'"other"')
    arguments = ("crawl", "hasty", *TOPIC[2:])
    status, out = run("", tmp_path / "data", *arguments, TOPICCRAWL_CRAWL="named")
    assert (status, "holds the frontier of 'other'" in out) == (1, True), out[-3000:]


def test_crawl_on_a_frontier_of_another_format_leaves_the_old_store(tmp_path: Path) -> None:
    data = tmp_path / "data"
    _write_meta(data / "frontiers" / "named", ABOUT, b'{"format": 1}')
    with closing(sqlite3.connect(data / FILE, isolation_level=None)) as store:
        migrate(store, FILE, STEPS[:7])
        for more in ((), ("-a", "since=last"), ("-a", "fresh=0")):
            status, out = run("", data, *TOPIC, *more, TOPICCRAWL_CRAWL="named")
            (line,) = [one for one in out.splitlines() if one.startswith("ERROR")]
            assert (status, "written in format 1" in line) == (1, True), out[-3000:]
        assert store.execute("PRAGMA user_version").fetchone() == (7,)
    assert not (data / VERSION).exists()


def _write_meta(frontier: Path, name: str, value: bytes) -> None:
    frontier.mkdir(parents=True)
    with lmdb.open(str(frontier), max_dbs=1) as env, env.begin(write=True) as txn:
        txn.put(name.encode(), value, db=env.open_db(b"meta", txn))


def test_ordinary_spider_without_lease_middleware_is_refused(tmp_path: Path) -> None:
    arguments = ("crawl", "requests", "-a", f"seed={SITE}/")
    modules = {"SPIDER_MODULES": "tests.crawl.request_features", "SPIDER_MIDDLEWARES": "{}"}
    with Web(PAGES) as web:
        status, out = run(web.proxy, tmp_path / "data", *arguments, **modules)
        assert web.hits == []
    assert (status, f"SPIDER_MIDDLEWARES lacks {LEASE}" in out) == (1, True), out[-3000:]
    assert "Traceback" not in out


def test_flag_of_the_adaptation_can_be_true(tmp_path: Path) -> None:
    learning = {"TOPICCRAWL_ADAPTATION": "genetic", "TOPICCRAWL_ADAPT_ANCHORS": "True"}
    with Web(PAGES) as web:
        status, out = run(web.proxy, tmp_path / "data", *TOPIC, **learning)
        assert web.count(f"{SITE}/1") == 1
    assert (status, "Traceback" in out) == (0, False), out[-3000:]


@pytest.mark.parametrize(
    ("action", "words"), [("unsure", "no unmarked page is stored"), ("marks", "no page is marked")]
)
def test_lists_of_marks_that_are_empty_say_so(tmp_path: Path, action: str, words: str) -> None:
    status, out = run("", tmp_path / "data", "topics", action, "--topic", "新能源汽车")
    assert (status, f"新能源汽车: {words}" in out) == (0, True), out


@pytest.mark.parametrize("name", ["check", "bench"])
def test_commands_without_a_crawl_leave_no_state(tmp_path: Path, name: str) -> None:
    named = ("checked",) if name == "check" else ()
    with Web(PAGES) as web:
        status, out = run(web.proxy, tmp_path / "data", name, *named, CLOSESPIDER_TIMEOUT="2")
    assert status == 0, out[-3000:]
    assert "Ran 1 contract" in out or name == "bench", out[-3000:]
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("store", ["sqlite", "mongodb"])
@pytest.mark.parametrize("action", [("list",), ("list", "--json"), ("export", "-")])
def test_closed_pipe_ends_a_list_without_a_message(
    tmp_path: Path, mongo_uri: str, store: str, action: tuple[str, ...]
) -> None:
    data, uri = (
        tmp_path / "data",
        mongo_uri.replace("/?", f"/pipe{tmp_path.name[-2:]}?") if store == "mongodb" else "",
    )
    storage = MongoStorage(uri) if uri else SqliteStorage(data)
    asyncio.run(fill(storage.articles()))
    line = command(data, "articles", *action, "--all", "--limit", "0", MONGODB_URI=uri)
    with subprocess.Popen(
        line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


async def fill(store: ArticleStore) -> None:
    """Store more articles than fit into a pipe."""
    await store.open()
    for begin in range(0, 300, 50):
        numbers = range(begin, begin + 50)
        await store.save([replace(stored_article(n), title=f"第{n}篇" * 40) for n in numbers])
    await store.close()
