"""A task that crawls a template: one worker at a time, whatever happens to it."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from scrapy.settings import Settings

from lab.demo.engine import Engine, Together
from lab.demo.server import DemoServer
from tests.crawl.run import MEASURED, log_of, run, start
from tests.crawl.test_template import QUERY, Companies, records
from tests.waiting import PATIENCE, until
from topiccrawl.addons.tasks.commands.tasks import checker
from topiccrawl.addons.tasks.records import TaskSpec
from topiccrawl.addons.tasks.service import TaskService
from topiccrawl.scheduler.frontiers import frontiers_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Awaitable, Callable
    from pathlib import Path

T = TypeVar("T")
TEMPLATE, SEARCH = "软件公司-四川", "baidu:http://baidu.engine.test/s"
SETTINGS = {"DOWNLOAD_DELAY": "0.05", "TOPICCRAWL_NODE_SECONDS": "4", "CONCURRENT_REQUESTS": "4"}


class Scene:
    """Two workers, the server that sees them, and a service to ask.

    Each question has a connection of its own, since each has its own event loop.
    """

    def __init__(self, proxy: str, data: Path, log: Path, url: str) -> None:
        settings: dict[str, Any] = {**SETTINGS, **({"REDIS_URL": url} if url else {})}
        self.settings = Settings({"TOPICCRAWL_DATA_DIR": str(data), "REDIS_URL": url})
        self.settings.setmodule("topiccrawl.settings", priority="default")
        if url:
            arguments = {"template": TEMPLATE, "discover": SEARCH}
            made = self.ask(lambda service: service.create(TaskSpec("template", arguments, ())))
            assert made.task.id == "1"
        else:
            words = ("tasks", "create", "--template", TEMPLATE, "--discover", SEARCH)
            status, told = run(proxy, data, *words, **settings)
            assert (status, "1  waiting" in told, "template" in told) == (0, True, True), told
        self.log = log
        self.workers = [start(proxy, data, "work", "--once", **settings) for _ in range(2)]

    def ask(self, question: Callable[[TaskService], Awaitable[T]]) -> T:
        async def asked() -> T:
            ledger = frontiers_of(self.settings).ledger()
            try:
                return await question(TaskService(ledger, checker(self.settings)))
            finally:
                await ledger.close()

        return asyncio.run(asked())

    def pages(self) -> list[str]:
        """URLs that were asked for, of the pages with records."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line.split("\t")[-1] for line in lines if line.endswith("lx.asp")]

    def holder(self) -> subprocess.Popen[bytes] | None:
        """Who has the template now."""
        pids = [worker.pid for worker in self.ask(TaskService.workers) if worker.shards]
        assert len(pids) <= 1, "one at a time"
        return next((worker for worker in self.workers if [worker.pid] == pids), None)

    def end(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()


@pytest.mark.crawl
@pytest.mark.slow
@pytest.mark.parametrize("where", ["folder", "redis"])
def test_one_worker_at_a_time_crawls_it_another_goes_on_and_a_pause_holds(
    where: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(MEASURED, raising=False)
    url = request.getfixturevalue("redis_url") if where == "redis" else ""
    data, log, web = tmp_path / "data", tmp_path / "access.tsv", Companies(24)
    with DemoServer(Together([Engine({QUERY: web.seeds})], web), log, latency=0.15) as server:
        scene = Scene(server.proxy, data, log, url)
        try:
            until(lambda: len(scene.pages()) >= 2)
            first = scene.holder()
            assert first is not None
            first.send_signal(signal.SIGKILL)
            first.wait()
            until(lambda: scene.holder() not in {None, first})
            before = len(scene.pages())
            until(lambda: len(scene.pages()) > before)
            scene.ask(lambda service: service.pause("1"))
            until(lambda: scene.holder() is None)
            held = len(scene.pages())
            time.sleep(1)
            assert len(scene.pages()) == held, "nothing is asked in a pause"
            state = scene.ask(lambda service: service.resume("1"))
            assert state.sites[0].turns == 2
            (other,) = (worker for worker in scene.workers if worker is not first)
            assert other.wait(PATIENCE) == 0, "it ended by itself"
        finally:
            scene.end()
        state = scene.ask(lambda service: service.show("1"))
    assert (state.state, state.sites[0].state) == ("finished", "done"), log_of(data).read_text()
    found, pages = records(data), scene.pages()
    assert {f"http://www.{name}/lx.asp" for name in found} == set(pages), "all that was asked for"
    assert len(found) >= 8
    assert len(pages) - len(set(pages)) <= 8, "in flight when it was killed"
    assert "Traceback" not in log_of(data).read_text()
