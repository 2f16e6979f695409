"""Tests of outcomes: every page has one, none is lost or fetched for ever."""

from __future__ import annotations

import re
import signal
import threading
from io import BytesIO
from itertools import pairwise
from operator import sub
from typing import TYPE_CHECKING

import pytest

from benchmarks.nodes_trial import EvenWeb
from lab.demo.server import DemoServer
from tests.crawl.run import exit_status, run, running, stored
from tests.crawl.trials import BlockingScheduler
from tests.crawl.web import Answer, Page, Web, article
from tests.waiting import PATIENCE, until
from topiccrawl.scheduler.frontiers import read_frontier

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

    from topiccrawl.frontier.contract import Explanation

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"
TRIAL = ("crawl", "trial", "-a", "topic=新能源汽车", "-a", f"seeds={SITE}/")


def front(*paths: str) -> str:
    return article("新能源汽车频道", TEXT, *(SITE + path for path in paths))


def why(data: Path, url: str) -> Explanation:
    (folder,) = (data / "frontiers").iterdir()
    found = read_frontier(folder).why(url)
    assert found is not None, f"{url} is not known"
    return found


@pytest.mark.usefixtures("no_coverage")
def test_pages_are_stored_once_and_second_run_fetches_nothing(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        f"{SITE}/{i}": article(f"新能源汽车要闻第{i}篇", f"{TEXT}编号{i}。") for i in range(30)
    }
    with Web({f"{SITE}/": front(*(f"/{i}" for i in range(30))), **pages}) as web:
        status, out = run(web.proxy, tmp_path / "data", *TRIAL)
        assert status == 0, out[-3000:]
        assert set(stored(tmp_path / "data")) >= set(pages)
        assert max(web.count(url) for url in pages) == 1
        assert web.count(f"{SITE}/robots.txt") == 1
        before = len(web.hits)
        status, out = run(web.proxy, tmp_path / "data", *TRIAL)
        assert (status, len(web.hits)) == (0, before), out[-3000:]
        run(web.proxy, tmp_path / "data", *TRIAL, "-a", "fresh=1")
        assert web.count(f"{SITE}/3") == 2


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_page_that_always_kills_the_process_ends_as_an_error(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        f"{SITE}/": front("/poison", "/good"),
        f"{SITE}/poison": article("新能源汽车", TEXT),
        f"{SITE}/good": article("新能源汽车很好", TEXT + "很好。"),
    }
    data = tmp_path / "data"
    status, out = -1, ""
    with Web(pages) as web:
        for _ in range(8):
            status, out = run(web.proxy, data, *TRIAL)
            if status == 0:
                break
    assert status == 0, out[-3000:]
    assert why(data, f"{SITE}/poison").reason == "crash"
    assert web.count(f"{SITE}/poison") == 5
    assert f"{SITE}/good" in stored(data)


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.parametrize("signals", [[signal.SIGINT], [signal.SIGHUP] * 2])
def test_stop_stores_fetched_pages_and_next_run_continues(
    tmp_path: Path, signals: list[signal.Signals]
) -> None:
    pages: dict[str, Page] = {
        f"{SITE}/{i}": article(f"新能源汽车第{i}篇", f"{TEXT}编号{i}。") for i in range(80)
    }
    stopped = threading.Event()

    def slow(handler: BaseHTTPRequestHandler) -> Answer:
        if len(web.hits) >= 12:  # however late the signal is sent
            stopped.wait(PATIENCE)
        return Answer(str(pages[handler.path]), seconds=0.2)

    slow_pages: dict[str, Page] = dict.fromkeys(pages, slow)
    home: dict[str, Page] = {f"{SITE}/": front(*(f"/{i}" for i in range(80)))}
    data = tmp_path / "data"
    few = {"CONCURRENT_REQUESTS_PER_DOMAIN": "2"}
    with Web({**home, **slow_pages}) as web:
        with running(web.proxy, data, *TRIAL, **few) as process:
            until(lambda: len(web.hits) >= 12)
            for one in signals:  # a closed terminal is reported by the system and by the shell
                process.send_signal(one)
            stopped.set()
            assert exit_status(process, data) == 0
        assert len(web.hits) < 40
        web.pages = {**home, **pages}
        fetched = {hit.url for hit in web.hits if hit.url in pages}
        assert fetched <= set(stored(data))
        status, out = run(web.proxy, data, *TRIAL)
    assert status == 0, out[-3000:]
    assert set(pages) <= set(stored(data))
    assert max(web.count(url) for url in pages) == 1


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_unreachable_seeds_are_an_error_and_retried_later(tmp_path: Path) -> None:
    with Web({}) as web:
        status, out = run(web.proxy, tmp_path / "data", *TRIAL)
        assert status == 1
        assert "no page could be fetched" in out
        assert web.count(f"{SITE}/") == 1
        web.pages = {f"{SITE}/": "<p>back</p>"}
        status, out = run(web.proxy, tmp_path / "data", *TRIAL)
        assert status == 0, out
        assert web.count(f"{SITE}/") == 2


def test_seed_that_redirects_to_a_dead_host_is_an_error(tmp_path: Path) -> None:
    moved = Answer("", 301, (("Location", "http://dead.test/"),))
    with Web({f"{SITE}/": moved}) as web:
        status, out = run(web.proxy, tmp_path / "data", *TRIAL)
    assert (status, "no page could be fetched" in out) == (1, True)


@pytest.mark.parametrize("path", ["boom", "item-error"])
def test_seed_whose_callback_or_items_fail_is_not_called_unreachable(
    tmp_path: Path, path: str
) -> None:
    trial = (*TRIAL[:-1], f"seeds={SITE}/{path}")
    with Web({f"{SITE}/{path}": front()}) as web:
        status, out = run(web.proxy, tmp_path / "data", *trial, RETRY_TIMES="0")
    assert (status, "Spider closed (processing_failed)" in out) == (1, True), out[-3000:]
    assert "could be fetched" not in out


def test_redirect_of_robots_txt_waits_for_the_host_delay(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        f"{SITE}/robots.txt": Answer("", 301, (("Location", f"{SITE}/rules.txt"),)),
        f"{SITE}/rules.txt": Answer("User-agent: *\nDisallow: /b\n"),
        f"{SITE}/": front("/b"),
    }
    polite = {"DOWNLOAD_DELAY": "1", "DOWNLOAD_DELAY_JITTER": "0"}
    with Web(pages) as web:
        status, out = run(web.proxy, tmp_path / "data", *TRIAL, **polite)
    assert (status, web.count(f"{SITE}/b")) == (0, 0), out[-3000:]
    asked = {hit.url: hit.at for hit in web.hits}
    assert 0.9 < asked[f"{SITE}/rules.txt"] - asked[f"{SITE}/robots.txt"] < 3


def test_held_requests_are_sent_later_on_open_connections(tmp_path: Path) -> None:
    pages: dict[str, Page] = {f"{SITE}/": front("/b", "/c", "/d"), **dict.fromkeys(
        (f"{SITE}/b", f"{SITE}/c", f"{SITE}/d"), article("新能源汽车", TEXT)
    )}  # fmt: skip
    with Web(pages) as web:
        status, out = run(
            web.proxy, tmp_path / "data", *TRIAL,
            SCHEDULER="tests.crawl.trials.SecondAttemptScheduler", CONCURRENT_REQUESTS="1",
        )  # fmt: skip
    assert (status, "Traceback" in out) == (0, False), out[-3000:]
    assert [web.count(url) for url in pages] == [1, 1, 1, 1]


def test_request_resent_on_a_new_connection_is_released_again(tmp_path: Path) -> None:
    asked = list[str]()

    def hangs_up_once(handler: BaseHTTPRequestHandler) -> Answer:
        asked.append(handler.path)
        if len(asked) == 1:
            handler.close_connection = True
            handler.wfile = BytesIO()
        return Answer(article("新能源汽车", TEXT))

    with Web({f"{SITE}/": front("/b"), f"{SITE}/b": hangs_up_once}) as web:
        status, out = run(
            web.proxy, tmp_path / "data", *TRIAL, SCHEDULER="tests.crawl.trials.LoggingScheduler"
        )
    assert status == 0, out[-3000:]
    assert len(asked) == 2
    assert re.findall("let out: (.*)", out) == [hit.url for hit in web.hits]
    assert why(tmp_path / "data", f"{SITE}/b").attempts == 0


def arrival_times(data: Path, pages: int, **settings: str) -> tuple[list[float], str]:
    """Crawl one host; return the arrival times of its requests and the crawl's output."""
    web, arrivals = EvenWeb(1, pages), list[float]()
    with DemoServer(web) as server:
        server.asked = lambda _, at: arrivals.append(at)
        status, out = run(
            server.proxy, data, "crawl", "topic", "-a", f"topic={web.topic}",
            "-a", f"seeds={web.seeds[0]}", **settings,
        )  # fmt: skip
    assert status == 0, out[-3000:]
    assert len(arrivals) == pages + 1
    return arrivals, out


@pytest.mark.slow
@pytest.mark.parametrize(("stalling", "most"), [("Pausing", "1"), ("Late", "2")])
def test_delay_counts_from_the_time_of_sending(tmp_path: Path, stalling: str, most: str) -> None:
    arrivals, _ = arrival_times(
        tmp_path / "data", 24, DOWNLOAD_DELAY="0.1", DOWNLOAD_DELAY_JITTER="0",
        CONCURRENT_REQUESTS_PER_DOMAIN=most,
        SCHEDULER=f"tests.crawl.trials.{stalling}Scheduler",
    )  # fmt: skip
    assert min(after - before for before, after in pairwise(arrivals)) > 0.1 - 0.01


@pytest.mark.usefixtures("no_coverage")
def test_released_request_does_not_wait_for_the_event_loop(tmp_path: Path) -> None:
    arrivals, out = arrival_times(
        tmp_path / "data", 2, DOWNLOAD_DELAY="0", CONCURRENT_REQUESTS="1",
        SCHEDULER="tests.crawl.trials.BlockingScheduler",
    )  # fmt: skip
    released = [float(at) for at in re.findall(r"let out at ([\d.]+)", out)]
    assert len(released) == len(arrivals)
    assert max(map(sub, arrivals, released)) < BlockingScheduler.block_seconds / 2


@pytest.mark.slow
def test_full_disk_ends_the_crawl_and_the_next_run_continues(tmp_path: Path) -> None:
    links = "".join(f'<a href="/x/{number}">{number} {TEXT}</a>' for number in range(4000))
    pages: dict[str, Page] = {
        f"{SITE}/": front("/full"),
        f"{SITE}/full": article("新能源汽车", TEXT).replace("</body>", links),
    }
    data = tmp_path / "data"
    with Web(pages) as web:
        status, out = run(web.proxy, data, *TRIAL, CLOSESPIDER_PAGECOUNT="30")
        assert (status, "cannot be written" in out) == (1, True), out[-3000:]
        assert "'finish_reason': 'storage_error'" in out
        plain = ("crawl", "topic", *TRIAL[2:])
        status, out = run(web.proxy, data, *plain, CLOSESPIDER_PAGECOUNT="30")
    assert status == 0, out[-3000:]
    assert why(data, f"{SITE}/full").queue == "crawled"


@pytest.mark.parametrize("made", ["file", "foreign"])
def test_unusable_data_folder_ends_crawl_before_any_request(tmp_path: Path, made: str) -> None:
    data = tmp_path / "data"
    if made == "file":
        data.write_text("in the way")
    else:
        data.mkdir()
        (data / "store.sqlite").write_text("no database " * 100)
    with Web({f"{SITE}/": front()}) as web:
        status, out = run(web.proxy, data, *TRIAL)
    assert (status, web.hits, "Traceback" in out) == (1, [], False), out[-3000:]
    assert str(data) in out
    assert "no data is lost" not in out


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_job_folder_is_locked_and_belongs_to_one_topic(tmp_path: Path) -> None:
    held = threading.Event()

    def slow(_: BaseHTTPRequestHandler) -> Answer:
        held.wait(PATIENCE)
        return Answer(article("新能源汽车", TEXT))

    pages: dict[str, Page] = {f"{SITE}/": front("/1"), f"{SITE}/1": slow}
    job = {"JOBDIR": str(tmp_path / "job")}
    other = ("crawl", "trial", "-a", "topic=足球", *TRIAL[4:])
    with Web(pages) as web:
        with running(web.proxy, tmp_path / "data", *TRIAL, **job) as first:
            until(lambda: len(web.hits) >= 2)
            status, out = run(web.proxy, tmp_path / "other", *TRIAL, **job)
            held.set()
            assert exit_status(first, tmp_path / "data") == 0
        assert (status, "another crawl uses it" in out, "Traceback" in out) == (1, True, False)
        status, out = run(web.proxy, tmp_path / "data", *other, **job)
        assert (status, "fresh=1" in out) == (1, True), out[-3000:]
        assert run(web.proxy, tmp_path / "data", *other, "-a", "fresh=1", **job)[0] == 0
    assert not (tmp_path / "data" / "frontiers").exists()


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_page_budget_is_met_and_not_exceeded(tmp_path: Path) -> None:
    pages: dict[str, Page] = {
        f"{SITE}/{i}": Answer(article(f"新能源汽车要闻第{i}篇", f"{TEXT}编号{i}。"), seconds=0.05)
        for i in range(0, 60, 2)  # every other link is missing and does not count
    }
    with Web({f"{SITE}/": front(*(f"/{i}" for i in range(60))), **pages}) as web:
        for run_number in (1, 2):
            status, out = run(web.proxy, tmp_path / "data", *TRIAL, TOPICCRAWL_PAGES="10",
                              TOPICCRAWL_HOST_PAGE="5")  # fmt: skip
            assert status == 0, out[-3000:]
            assert "TOPICCRAWL_PAGES reached" in out
            assert "did you mean TOPICCRAWL_HOST_PAGES?" in out, "a typing error is reported"
            found = sum(web.count(url) for url in (f"{SITE}/", *pages))
            assert found == 10 * run_number, "exactly, with up to eight requests in flight"


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_scheduler_is_idle_while_the_last_page_is_fetched(tmp_path: Path) -> None:
    slow = {f"{SITE}/{i}": Answer(article("新能源汽车", TEXT), seconds=1.0) for i in range(9)}
    with Web({f"{SITE}/": front(*(f"/{i}" for i in range(9))), **slow}) as web:
        status, out = run(
            web.proxy, tmp_path / "data", *TRIAL, TOPICCRAWL_PAGES="2",
            SCHEDULER="tests.crawl.trials.CountingScheduler",
        )  # fmt: skip
    assert status == 0, out[-3000:]
    asked = re.search(r"'trial/asked': (\d+)", out)
    assert asked is not None
    assert int(asked[1]) < 100, "the scheduler is not polled"
