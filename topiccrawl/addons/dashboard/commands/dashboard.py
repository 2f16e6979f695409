"""``scrapy dashboard``: dashboard of all crawls, from the records of runs and the stores."""

from __future__ import annotations

import asyncio
import signal
from functools import partial
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.addons.dashboard.address import Address, address_of
from topiccrawl.addons.dashboard.merge import crawls, merged_state
from topiccrawl.commands.terminal import OperatorCommand, say
from topiccrawl.messages import message
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.storage.factory import closed_after

if TYPE_CHECKING:
    import argparse

    from topiccrawl.addons.dashboard.stored import Stored
    from topiccrawl.storage.contract import Listed
    from topiccrawl.storage.runs import Runs
    from topiccrawl.storage.status import State


class Command(OperatorCommand, ScrapyCommand):
    """Serve the dashboard of all crawls until interrupted."""

    usage = "[options] [PORT | ADDRESS:PORT]"
    summary = message("Serve a web page that shows and controls all crawls, local or in Redis")
    details = message(
        "Reads the records that crawls write to TOPICCRAWL_DATA_DIR, or to Redis if REDIS_URL is "
        "set. The default address is 127.0.0.1:8420. Open the printed URL; it contains the token, "
        "unless TOPICCRAWL_DASHBOARD_TOKEN sets one. /metrics is for Prometheus."
    )

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) > 1:
            raise UsageError
        named = str(self.options.get("TOPICCRAWL_DASHBOARD") or "")
        address = address_of(args[0] if args else named) or Address()
        asyncio.run(self._serve(address))

    async def _serve(self, address: Address) -> None:
        from topiccrawl.addons.dashboard.server import serving

        async with (
            closed_after(frontiers_of(self.options).runs()) as runs,
            serving(self.options, address, partial(RunsSource, runs), start="crawls") as server,
        ):
            say(f"Dashboard: {server.url}")
            halt, loop = asyncio.Event(), asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, halt.set)
            await halt.wait()


class RunsSource:
    """Data source of recorded crawls; the records of a crawl's nodes are merged.

    Args:
        runs: Store of the records of runs.
        stored: Reader of the stored articles.
    """

    def __init__(self, runs: Runs, stored: Stored) -> None:
        self._runs = runs
        self._stored = stored

    async def state(self, crawl: str) -> State:
        """Return all sections as last recorded."""
        records = await self._runs.all()
        return {**merged_state(records, crawl), "crawls": crawls(records)}

    async def states(self) -> list[State]:
        """Return the states of all running crawls."""
        records = await self._runs.all()
        return [merged_state(records, one["frontier"]) for one in crawls(records) if one["live"]]

    async def articles(self, crawl: str, offset: int, limit: int) -> tuple[int, list[Listed]]:
        """Return the number of stored articles and a page of them, last stored first."""
        run = (await self.state(crawl))["run"]
        return await self._stored.articles(run["topic"], offset, limit)

    async def more(self, crawl: str) -> State:
        """Return the sections that change slowly."""
        run = (await self.state(crawl))["run"]
        return await self._stored.more(run["topic"], run["frontier"])
