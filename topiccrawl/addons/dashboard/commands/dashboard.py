"""``scrapy dashboard``: dashboard of all crawls, from the records of runs and the stores."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.addons.dashboard.address import Address, address_of
from topiccrawl.addons.dashboard.stored import RunsSource
from topiccrawl.commands.terminal import OperatorCommand, say
from topiccrawl.messages import message, tr

if TYPE_CHECKING:
    import argparse


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

        source = RunsSource(self.options)
        async with serving(self.options, address, source, start="crawls") as server:
            say(tr("Dashboard: {url}", url=server.url))
            halt, loop = asyncio.Event(), asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, halt.set)
            await halt.wait()
