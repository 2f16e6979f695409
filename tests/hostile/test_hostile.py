"""Tests of a crawl of a good site beside hostile ones: each page ends, resources are bounded."""

from __future__ import annotations

import os
import re
import resource
import signal
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.crawl.run import MEASURED, log_of, start, stored
from tests.crawl.web import article
from tests.hostile.acts import BOMBS, MARKED, TEXT
from tests.hostile.cases import CASES
from tests.hostile.strange import CLAIMED, STRANGE
from tests.hostile.web import Hostile
from topiccrawl.scheduler.frontiers import read_frontier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from subprocess import Popen

    from tests.hostile.web import Case
    from topiccrawl.frontier.contract import Reader

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

GROUPS = {"known": CASES, "strange": STRANGE}
"""Cases that are crawled together."""
GOOD = [f"http://good.test/{n}" for n in range(60)]
MOST_SECONDS = 240
"""Seconds after which the crawl ends by itself on a busy machine; some pages never end."""
MOST_CPU = 90.0
"""Processor seconds of the crawl."""
MOST_DATA = 1_500_000_000
"""Bytes of data that the process may have."""
MOST_DISK = 120_000_000
"""Bytes of the data folder."""
SETTINGS = {
    "DOWNLOAD_TIMEOUT": "15", "CONCURRENT_REQUESTS": "32", "CLOSESPIDER_TIMEOUT": str(MOST_SECONDS),
    "TOPICCRAWL_HOST_PAGES": "70",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "4", "DEPTH_LIMIT": "9",
}  # fmt: skip


class CrawlResult(NamedTuple):
    """Result of a crawl."""

    outcomes: dict[str, str]
    recorded: dict[str, int]
    articles: list[str]
    texts: dict[str, str]
    asked: dict[str, int]
    heads: dict[str, int]
    log: str
    cpu: float
    rss: int
    disk: int
    status: int


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], CrawlResult]]:
    before = os.environ.pop(MEASURED, None)  # coverage would take half of its time
    done: dict[str, CrawlResult] = {}

    def run(group: str) -> CrawlResult:
        if group not in done:
            done[group] = _crawl(GROUPS[group], tmp_path_factory.mktemp("hostile") / "data")
        return done[group]

    yield run
    if before is not None:
        os.environ[MEASURED] = before


@pytest.fixture(params=GROUPS)
def result(request: pytest.FixtureRequest, crawled: Callable[[str], CrawlResult]) -> CrawlResult:
    return crawled(request.param)


def _crawl(cases: tuple[Case, ...], data: Path) -> CrawlResult:
    for build in BOMBS:
        build()
    pages = {url: article(f"新能源汽车要闻第{n}篇", f"{TEXT}{n}。") for n, url in enumerate(GOOD)}
    front = "http://good.test/"
    seeds = ",".join([front, *(case.url for case in cases)])
    crawl = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={seeds}")
    with (
        Hostile(cases, {**pages, front: article("新能源汽车频道", TEXT, *GOOD)}) as web,
        start(web.proxy, data, *crawl, **SETTINGS) as process,
    ):
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (MOST_DATA, MOST_DATA))
        rss = _watch(process, web, data, cases)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return _report(data, web, used.ru_utime + used.ru_stime, rss, process.returncode)


def _watch(process: Popen[bytes], web: Hostile, data: Path, cases: tuple[Case, ...]) -> int:
    """Stop a crawl when its pages have ended; return its largest anonymous memory."""
    most, stopped, end = 0, False, time.monotonic() + MOST_SECONDS + 60
    status = Path(f"/proc/{process.pid}/status")
    while time.monotonic() < end:
        text = status.read_text()
        if "State:\tZ" in text:
            return most
        found = re.search(r"RssAnon:\s+(\d+)", text)
        most = max(most, 1024 * int(found[1]) if found else 0)
        if not stopped and web.asked.keys() >= set(GOOD) and _all_ended(data, cases):
            process.send_signal(signal.SIGINT)
            stopped = True
        threading.Event().wait(0.5)
    process.kill()
    return most


def _all_ended(data: Path, cases: tuple[Case, ...]) -> bool:
    """Return whether each case's page has an outcome that it may have."""
    (folder,) = (data / "frontiers").iterdir()
    with closing(read_frontier(folder)) as reader:
        return all(_is_fine(case, _outcome(reader, case.url)) for case in cases)


def _outcome(reader: Reader, url: str) -> str:
    known = reader.why(url)
    return "" if known is None else f"{known.queue} {known.reason}".strip()


def _is_fine(case: Case, outcome: str) -> bool:
    return any(outcome == one or outcome.startswith(f"{one} ") for one in case.outcomes)


def _report(data: Path, web: Hostile, cpu: float, rss: int, status: int) -> CrawlResult:
    (folder,) = (data / "frontiers").iterdir()
    reader = read_frontier(folder)
    outcomes, recorded = {}, dict.fromkeys((case.name for case in web.cases.values()), 0)
    for queue in ("prior", "normal", "leased", "crawled", "error"):
        for url, _, reason in reader.iterate(queue):
            outcomes[url] = f"{queue} {reason}".strip()
            name = ".".join((urlsplit(url).hostname or "").split(".")[-2:-1])
            if name in recorded:
                recorded[name] += 1
    reader.close()
    disk = sum(path.stat().st_blocks * 512 for path in data.rglob("*") if path.is_file())
    log = log_of(data).read_text("utf-8", "replace")
    with closing(sqlite3.connect(data / "store.sqlite")) as connection:
        texts = dict(connection.execute("SELECT url, body FROM articles"))
    asked, heads = dict(web.asked), dict(web.heads)
    return CrawlResult(
        outcomes, recorded, stored(data), texts, asked, heads, log, cpu, rss, disk, status
    )


@pytest.mark.parametrize(
    ("group", "case"),
    [(name, case) for name, group in GROUPS.items() for case in group],
    ids=lambda part: part if isinstance(part, str) else part.name,
)
def test_page_ends_with_an_allowed_outcome(
    crawled: Callable[[str], CrawlResult], group: str, case: Case
) -> None:
    result = crawled(group)
    outcome = result.outcomes[case.url]
    assert _is_fine(case, outcome), outcome
    assert result.recorded[case.name] <= case.recorded


def test_good_site_is_fetched_and_stored_completely(result: CrawlResult) -> None:
    assert {result.outcomes[url] for url in GOOD} == {"crawled article"}
    assert set(GOOD) <= set(result.articles)
    assert max(result.asked[url] for url in GOOD) == 1


def test_crawl_stays_within_its_limits(result: CrawlResult) -> None:
    figures = f"{result.cpu:.0f} s, {result.rss / 1e6:.0f} MB, {result.disk / 1e6:.0f} MB on disk"
    assert result.status == 0, result.log[-3000:]
    assert result.cpu <= MOST_CPU, figures
    assert result.rss <= MOST_DATA, figures
    assert result.disk <= MOST_DISK, figures


def test_the_log_has_no_trace_and_no_control_characters(result: CrawlResult) -> None:
    assert "Traceback" not in result.log
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", result.log)
    assert MARKED not in result.log


def test_no_internal_address_is_requested(result: CrawlResult) -> None:
    hosts = {urlsplit(url).hostname for url in result.asked}
    inside = {
        "127.0.0.1",
        "localhost",
        "10.0.0.1",
        "169.254.169.254",
        "::ffff:a00:1",
        "0x7f.1",
        "2130706433",
    }
    assert not hosts & inside


def test_no_page_replaces_an_article_of_another_site(result: CrawlResult) -> None:
    assert not [url for url in GOOD if CLAIMED in result.texts.get(url, "")]


def test_request_headers_stay_bounded(result: CrawlResult) -> None:
    assert max(result.heads.values()) < 20_000


def test_the_docs_list_every_case() -> None:
    text = (Path(__file__).parents[2] / "docs" / "threats.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([a-z0-9-]+)` \| ([^|]+) \|$", text, re.MULTILINE))
    assert rows == {case.name: case.what for group in GROUPS.values() for case in group}
