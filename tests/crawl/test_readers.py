"""Tests of crawls whose pages are read in separate processes."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import exit_status, log_of, run, running, stored
from tests.crawl.test_endings import TEXT, why
from tests.crawl.web import Page, Web, article
from tests.unit.extract.readers_trial import DEEDS
from tests.waiting import until

if TYPE_CHECKING:
    import subprocess

pytestmark = pytest.mark.crawl

GOOD, BAD = "http://good.test", "http://costly.test"
TOPIC = ("crawl", "topic", "-a", "topic=新能源汽车", "-a")
REASONS = {
    **dict.fromkeys(("spin", "sleep", "stop"), "reader-timeout"),
    **dict.fromkeys(("grow", "leap"), "reader-memory"),
}
"""Reasons of the reader's errors; the others are ``reader-crash``."""


def site(front: str, pages: int, subject: str = "新能源汽车") -> dict[str, Page]:
    inner = {
        f"{front}/{n}": article(f"{subject}要闻第{n}篇", f"{TEXT}编号{n}。", f"{front}/{n // 2}")
        for n in range(pages)
    }
    return {f"{front}/": article(f"{subject}频道", TEXT, *inner), **inner}


def readers_of(crawl: subprocess.Popen[bytes]) -> list[int]:
    """Return the process IDs of the readers of a crawl."""
    children = Path(f"/proc/{crawl.pid}/task/{crawl.pid}/children")
    found = []
    for pid in map(int, children.read_text().split()):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_text()
        except OSError:  # it has ended
            continue
        if "extract.worker" in line:
            found.append(pid)
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("no_coverage")
def test_pages_that_break_the_reader_end_each_with_its_reason(tmp_path: Path) -> None:
    data = tmp_path / "data"
    deeds = [*DEEDS, *(f"late-{name}" for name in DEEDS)]
    story = article("新能源汽车", TEXT)
    bad: dict[str, Page] = dict.fromkeys([f"{BAD}/{name}" for name in deeds], story)
    pages = {**site(GOOD, 30), f"{BAD}/": article("新能源汽车专题", TEXT, *bad), **bad}
    settings = {
        "TOPICCRAWL_READERS": "2",
        "TOPICCRAWL_READER": "tests.unit.extract.readers_trial.TrialReader",
        "TOPICCRAWL_READER_SECONDS": "1.0",
        "TOPICCRAWL_READER_MEMORY": str(1 << 28),
    }
    with Web(pages) as web:
        status, out = run(web.proxy, data, *TOPIC, f"seeds={BAD}/,{GOOD}/", **settings)
        fetched = {hit.url for hit in web.hits}
    assert status == 0, out[-3000:]
    good = {url for url in pages if url.startswith(GOOD)}
    assert good <= fetched
    assert good <= set(stored(data)) | {f"{GOOD}/"}
    found = {name: why(data, f"{BAD}/{name}") for name in deeds}
    expected = {name: REASONS.get(name.removeprefix("late-"), "reader-crash") for name in deeds}
    assert {name: one.reason for name, one in found.items()} == expected
    assert {one.queue for one in found.values()} == {"error"}
    assert f"{BAD}/segfault" in out


@pytest.mark.slow
@pytest.mark.usefixtures("no_coverage")
def test_readers_killed_at_random_lose_nothing(tmp_path: Path) -> None:
    data, dice = tmp_path / "data", random.Random(3)  # noqa: S311
    pages = site(GOOD, 120)
    with (
        Web(pages) as web,
        running(web.proxy, data, *TOPIC, f"seeds={GOOD}/", TOPICCRAWL_READERS="2") as crawl,
    ):
        for done in range(10, 100, 15):
            until(lambda done=done: len(web.hits) >= done or crawl.poll() is not None)  # type: ignore[misc]
            if alive := readers_of(crawl):
                os.kill(dice.choice(alive), signal.SIGKILL)
        assert exit_status(crawl, data) == 0
        hits = [hit.url for hit in web.hits]
    assert sorted(hits) == sorted({*pages, f"{GOOD}/robots.txt"})
    assert {why(data, url).queue for url in pages} == {"crawled"}
    assert set(stored(data)) >= set(pages) - {f"{GOOD}/"}


@pytest.mark.usefixtures("no_coverage")
def test_a_crawl_that_is_interrupted_leaves_no_reader(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with (
        Web(site(GOOD, 400)) as web,
        running(web.proxy, data, *TOPIC, f"seeds={GOOD}/", TOPICCRAWL_READERS="2") as crawl,
    ):
        until(lambda: len(web.hits) > 20)
        readers = readers_of(crawl)
        assert readers
        for pid in (crawl.pid, *readers):  # as a terminal does
            os.kill(pid, signal.SIGINT)
        assert exit_status(crawl, data) == 0
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in readers))
    assert "Traceback" not in log_of(data).read_text()
    assert "A reader" not in log_of(data).read_text()


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_page_that_kills_a_crawl_without_readers_is_an_error(tmp_path: Path) -> None:
    data, killer = tmp_path / "data", f"{BAD}/exit"
    pages = {
        f"{BAD}/": article("新能源汽车频道", TEXT, killer),
        killer: article("新能源汽车", TEXT),
    }
    reader = "tests.unit.extract.readers_trial.TrialReader"
    statuses: list[int] = []
    with Web(pages) as web:
        while (not statuses or statuses[-1]) and len(statuses) < 8:
            arguments = (*TOPIC, f"seeds={BAD}/")
            statuses.append(run(web.proxy, data, *arguments, TOPICCRAWL_READER=reader)[0])
    assert statuses == [3, 3, 3, 3, 3, 0]
    assert why(data, killer).reason == "crash"


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_blocking_pages_are_named_in_a_crawl_without_readers(tmp_path: Path) -> None:
    data, names = tmp_path / "data", ("recurse", "slow")
    pages: dict[str, Page] = {f"{BAD}/{name}": article("新能源汽车", TEXT) for name in names}
    pages[f"{BAD}/"] = article("新能源汽车频道", TEXT, *pages)
    reader = {"TOPICCRAWL_READER": "tests.unit.extract.readers_trial.TrialReader"}
    with Web(pages) as web:
        arguments = (*TOPIC, f"seeds={BAD}/")
        status, log = run(web.proxy, data, *arguments, TOPICCRAWL_WATCHDOG="0.05", **reader)
    assert status == 0, log[-3000:]
    assert why(data, f"{BAD}/recurse").reason == "callback-RecursionError"
    assert f"s at {BAD}/slow" in log


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_readers(tmp_path: Path) -> None:
    pages = {**site(f"{GOOD}/flowers", 20, "养花"), **site(GOOD, 30)}
    pages[f"{GOOD}/"] = article("新能源汽车频道", TEXT, *pages)
    found = []
    for readers in ("0", "1", "3"):
        data = tmp_path / readers
        with Web(pages) as web:
            status, out = run(
                web.proxy,
                data,
                *TOPIC,
                f"seeds={GOOD}/",
                TOPICCRAWL_READERS=readers,
                TOPICCRAWL_STRATEGY="bfs",
                CONCURRENT_REQUESTS="1",  # requests come back in the same order
            )
            assert status == 0, out[-3000:]
            relevance = {url: why(data, url).relevance for url in pages}
            found.append(([hit.url for hit in web.hits], stored(data), relevance))
    assert found[0] == found[1] == found[2]
