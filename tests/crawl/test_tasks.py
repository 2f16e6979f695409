"""Tests of tasks on workers that are killed, paused and stopped."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from benchmarks.tasks import Trial
from tests.crawl.run import MEASURED, exit_status, log_of, run, running
from tests.crawl.web import Page, Web, article
from tests.waiting import until
from topiccrawl.addons.tasks.commands.tasks import lines_of
from topiccrawl.addons.tasks.records import TaskSpec
from topiccrawl.addons.tasks.service import TaskService
from topiccrawl.scheduler.frontiers import frontiers_of

if TYPE_CHECKING:
    from pathlib import Path

NEWS = "新能源汽车销量增长，电动汽车与动力电池企业加快布局，充电桩建设提速。"
PAGES: dict[str, Page] = {
    "http://a.test/": article("新能源汽车", NEWS, *(f"http://a.test/{i}" for i in range(99))),
    **{f"http://a.test/{i}": article(f"电动汽车{i}", NEWS) for i in range(99)},
}
PAGES_EACH = 96
SLOW = {
    "DOWNLOAD_DELAY": "0.2",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "1",
    "DOWNLOAD_DELAY_JITTER": "0",
}


@pytest.mark.crawl
@pytest.mark.slow
@pytest.mark.parametrize("where", ["folder", "redis"])
def test_tasks_share_a_site_fairly_despite_kill_and_pause(
    where: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(MEASURED, raising=False)  # the next test is measured
    url = request.getfixturevalue("redis_url") if where == "redis" else ""
    trial = Trial(tmp_path, url, pages=PAGES_EACH, sites=1, workers=3, quantum=0.8, pause=2.0)
    report = trial.run()
    assert report.states == ("finished", "finished")
    assert report.missing == []
    assert report.overlaps == []
    assert report.hasty == [], "the delay holds between turns, too"
    one, other = sorted(report.shares)
    turn = 2 * PAGES_EACH / report.turns
    assert other - one <= 2.5 * turn, "a turn, and what the killed worker had not reported yet"
    assert report.turns >= 4, "the site passed between the tasks"
    assert report.held < 2 * 2 * PAGES_EACH, "not all was fetched before the pause"
    assert report.pause < 2.0
    assert report.resumed < 5.0
    assert report.refetched <= 10, "in flight, or not yet committed"


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.crawl
@pytest.mark.slow
def test_shard_of_a_stopped_worker_is_continued_by_another(tmp_path: Path) -> None:
    data = tmp_path / "data"
    status, out = run("", data, "tasks", "create", "http://a.test/", "--topic", "新能源汽车",
                       "--owner", "甲", "--site-pages", "12")  # fmt: skip
    assert (status, "waiting" in out, "甲" in out) == (0, True, True)
    service = TaskService(frontiers_of(Settings({"TOPICCRAWL_DATA_DIR": str(data)})).ledger())
    with Web(PAGES) as web:
        with running(web.proxy, data, "work", **SLOW) as worker:
            until(lambda: len(web.hits) >= 5)
            worker.send_signal(signal.SIGINT)
            assert exit_status(worker, data) == 0
        state = asyncio.run(service.show("1"))
        assert (state.state, state.sites[0].reason) == ("waiting", "shutdown")
        assert state.pages >= 3
        assert asyncio.run(service.workers()) == []
        status, _ = run(web.proxy, data, "work", "--once", DOWNLOAD_DELAY="0.05",
                        CONCURRENT_REQUESTS_PER_DOMAIN="1")  # fmt: skip
        assert status == 0
    state = asyncio.run(service.show("1"))
    assert state.state == "finished"
    assert 12 <= state.pages <= 13
    assert max(web.count(url) for url in PAGES) == 1, "nothing is fetched twice"
    assert "Traceback" not in log_of(data).read_text()


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.crawl
@pytest.mark.slow
def test_page_of_two_tasks_is_fetched_once(tmp_path: Path) -> None:
    data, topics = tmp_path / "data", ("新能源汽车", "动力电池")
    urls = [f"http://a.test/{number}" for number in range(9)]
    pages = {
        "http://a.test/": article("新能源汽车", NEWS, *urls),
        **{url: PAGES[url] for url in urls},
    }
    for topic in topics:
        assert run("", data, "tasks", "create", "http://a.test/", "--topic", topic)[0] == 0
    with Web(pages) as web:
        status, log = run(web.proxy, data, "work", "--once")
        assert status == 0, log[-3000:]
    assert {url: web.count(url) for url in pages} == dict.fromkeys(pages, 1)
    service = TaskService(frontiers_of(Settings({"TOPICCRAWL_DATA_DIR": str(data)})).ledger())
    states = [asyncio.run(service.show(number)) for number in ("1", "2")]
    assert [(one.state, one.pages) for one in states] == [("finished", len(pages))] * 2
    status, listed = run("", data, "articles", "list", "--topic", topics[1])
    assert (status, "http://a.test/" in listed) == (0, True), listed
    assert list((data / "shared").iterdir()) == []


@pytest.mark.crawl
@pytest.mark.slow
def test_http_is_tried_if_a_site_has_no_https(tmp_path: Path) -> None:
    data = tmp_path / "data"
    status, _ = run("", data, "tasks", "create", "a.test", "--topic", "新能源汽车",
                    "--site-pages", "3")  # fmt: skip
    assert status == 0
    with Web(PAGES) as web:  # a proxy without CONNECT
        status, _ = run(web.proxy, data, "work", "--once")
        assert status == 0
        assert web.count("http://a.test/") == 1
    status, out = run("", data, "tasks", "list")
    assert "finished" in out
    tried = next(line for line in out.splitlines() if "https://a.test/" in line)
    assert tried.endswith("http://a.test/ fetched"), tried


@pytest.mark.crawl
@pytest.mark.slow
def test_site_passes_to_the_assigned_worker(tmp_path: Path) -> None:
    data = tmp_path / "data"
    service = TaskService(frontiers_of(Settings({"TOPICCRAWL_DATA_DIR": str(data)})).ledger())
    asyncio.run(service.create(TaskSpec("topic", {"topic": "新能源汽车"}, ("http://a.test/",))))
    slow = {**SLOW, "DOWNLOAD_DELAY": "0.5"}

    def holder() -> str:
        return asyncio.run(service.show("1")).sites[0].worker

    with Web(PAGES) as web, running(web.proxy, data, "work", **slow):
        until(holder)
        first = holder()
        with running(web.proxy, data, "work", **slow):
            until(lambda: len(asyncio.run(service.workers())) == 2)
            other = next(w.name for w in asyncio.run(service.workers()) if w.name != first)
            out = lines_of(asyncio.run(service.assign("1", "a.test", other)), full=True)
            assert f"for {other}" in out[1]
            until(lambda: holder() == other)
            fetched = len(web.hits)
            until(lambda: len(web.hits) > fetched + 2)
    assert asyncio.run(service.show("1")).sites[0].turns == 2
    assert max(web.count(url) for url in PAGES) == 1, "nothing is fetched twice"
