"""Test of the watchdog of the event loop."""

from __future__ import annotations

import asyncio
import logging
import threading

from typing_extensions import override

from tests.waiting import soon
from topiccrawl.addons.watchdog.extension import Watchdog


def test_blocked_loop_is_reported_with_url_and_stack() -> None:
    seen: list[str] = []
    reported = threading.Event()

    class Handler(logging.Handler):
        @override
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record.getMessage())
            reported.set()

    handler = Handler()
    log = logging.getLogger("topiccrawl.addons.watchdog.extension")
    log.addHandler(handler)

    async def trial() -> None:
        watchdog = Watchdog(0.05, lambda: "http://a.test/1", lambda: seen.append("goes on"))
        watchdog.start()
        stands_still(reported)
        await soon(lambda: "goes on" in seen)
        watchdog.stop()

    try:
        asyncio.run(trial())
    finally:
        log.removeHandler(handler)
    assert "http://a.test/1" in seen[0]
    assert "stands_still" in seen[0]


def stands_still(until: threading.Event) -> None:
    assert until.wait(60)
