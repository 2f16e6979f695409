"""A task of a template is crawled by one worker at a time, also after a kill."""

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


class WorkerPair:
    """Two workers, the log of their server, and calls of the task service.

    Each call has its own connection, since it has its own event loop.
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
            status, out = run(proxy, data, *words, **settings)
            assert (status, "1  waiting" in out, "template" in out) == (0, True, True), out
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
        """Return the requested URLs of pages with records."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line.split("\t")[-1] for line in lines if line.endswith("lx.asp")]

    def holder(self) -> subprocess.Popen[bytes] | None:
        """Return the worker that has the template now."""
        pids = [worker.pid for worker in self.ask(TaskService.workers) if worker.shards]
        assert len(pids) <= 1, "one worker at a time"
        return next((worker for worker in self.workers if [worker.pid] == pids), None)

    def end(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()


@pytest.mark.crawl
@pytest.mark.slow
@pytest.mark.parametrize("where", ["folder", "redis"])
def test_one_worker_at_a_time_despite_kill_and_pause(
    where: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(MEASURED, raising=False)
    url = request.getfixturevalue("redis_url") if where == "redis" else ""
    data, log, web = tmp_path / "data", tmp_path / "access.tsv", Companies(24)
    with DemoServer(Together(Engine({QUERY: web.seeds}), web), log, latency=0.15) as server:
        pair = WorkerPair(server.proxy, data, log, url)
        try:
            until(lambda: len(pair.pages()) >= 2)
            first = pair.holder()
            assert first is not None
            first.send_signal(signal.SIGKILL)
            first.wait()
            until(lambda: pair.holder() not in {None, first})
            before = len(pair.pages())
            until(lambda: len(pair.pages()) > before)
            pair.ask(lambda service: service.pause("1"))
            until(lambda: pair.holder() is None)
            held = len(pair.pages())
            time.sleep(1)
            assert len(pair.pages()) == held, "no requests during the pause"
            state = pair.ask(lambda service: service.resume("1"))
            assert state.sites[0].turns == 2
            (other,) = (worker for worker in pair.workers if worker is not first)
            assert other.wait(PATIENCE) == 0, "it ended by itself"
        finally:
            pair.end()
        state = pair.ask(lambda service: service.show("1"))
    assert (state.state, state.sites[0].state) == ("finished", "done"), log_of(data).read_text()
    found, pages = records(data), pair.pages()
    assert {f"http://www.{name}/lx.asp" for name in found} == set(pages), (
        "each requested page has a record"
    )
    assert len(found) >= 8
    assert len(pages) - len(set(pages)) <= 8, "in flight when it was killed"
    assert "Traceback" not in log_of(data).read_text()
