"""Log lines of a worker whose ledger fails: they say whether its crawls go on or pause."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings
from typing_extensions import override

from topiccrawl.addons.tasks.session import WorkerSession
from topiccrawl.addons.tasks.spider import Worker
from topiccrawl.errors import StorageAwayError
from topiccrawl.storage.ledger import LocalLedger

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from topiccrawl.storage.ledger import Rows


class FailingLedger(LocalLedger):
    """Ledger whose reads of certain numbers fail."""

    fails: Callable[[int], bool] = lambda _: False
    reads = 0

    @override
    async def read(self, *kinds: str) -> Rows:
        self.reads += 1
        if self.fails(self.reads):
            raise StorageAwayError("task rows: no answer")
        return await super().read(*kinds)


@pytest.mark.parametrize(
    ("failing", "expected"),
    [((2,), ("go on", "again")), (range(4, 10_000), ("go on", "pause until"))],
    ids=["after a heartbeat", "without end"],
)
def test_worker_logs_a_pause_only_while_its_crawls_pause(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, failing: range, expected: tuple[str, ...]
) -> None:
    ledger = FailingLedger(tmp_path)
    ledger.fails = failing.__contains__
    session = WorkerSession(ledger, slots=1, ttl=1.2)
    worker = Worker(Settings(), session, 1.0, once=False)

    async def work() -> None:
        running = asyncio.ensure_future(worker.run())
        async with asyncio.timeout(30):
            while len(caplog.records) < len(expected):
                await asyncio.sleep(0.01)
                if any("pause until" in line for line in caplog.messages):
                    assert not session.may_fetch()
        worker.stop()
        await running

    asyncio.run(work())
    lines = caplog.messages[: len(expected)]
    assert [text for text, line in zip(expected, lines, strict=True) if text in line] == [*expected]
