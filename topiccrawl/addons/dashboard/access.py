"""Build the dashboard's server from the settings: data sources, routes and access control."""

from __future__ import annotations

import os
import secrets
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from topiccrawl.addons.dashboard.guard import Guard
from topiccrawl.addons.dashboard.metrics import available, exposition
from topiccrawl.addons.dashboard.stored import Stored
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.scheduler.hooks import components

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from aiohttp import web
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings, Settings

    from topiccrawl.addons.dashboard.address import Address
    from topiccrawl.addons.dashboard.server import DashboardServer
    from topiccrawl.storage.ledger import Ledger
    from topiccrawl.storage.status import Source


@asynccontextmanager
async def serving(
    settings: Settings, address: Address, source: Callable[[Stored], Source],
    crawler: Crawler | None = None, *, control: bool = True, start: str = "crawl",
) -> AsyncIterator[DashboardServer]:  # fmt: skip
    """Serve the dashboard until the block ends, then close its stores.

    Args:
        settings: Project settings.
        address: Address to listen on.
        source: Returns the data source, given a reader of the stored data.
        crawler: The running crawl; None to show stored data only.
        control: Whether to add the routes of TOPICCRAWL_DASHBOARD_ROUTES, which control crawls.
        start: The page at ``/``.

    Raises:
        SettingError: If a setting is invalid.
        StorageError: If the stores cannot be read or the address is in use.
    """
    from topiccrawl.addons.dashboard.library import Library
    from topiccrawl.addons.dashboard.server import DashboardServer

    async with AsyncExitStack() as closing:
        library, stored = Library(settings), Stored(settings, crawler)
        closing.push_async_callback(library.close)
        closing.push_async_callback(stored.close)
        routes = list(library.routes())
        if control:
            ledger = frontiers_of(settings).ledger()
            closing.push_async_callback(ledger.close)
            routes += contributed_routes(settings, ledger)
        metrics, guard = exposition if available() else None, guard_of(settings, address)
        server = DashboardServer(source(stored), guard, routes, metrics, start)
        await server.start()
        closing.push_async_callback(server.stop)
        yield server


def guard_of(settings: BaseSettings, address: Address) -> Guard:
    """Return the access control; generate a token if none is set and tokens are not off."""
    token = str(
        settings.get("TOPICCRAWL_DASHBOARD_TOKEN")
        or os.environ.get("TOPICCRAWL_DASHBOARD_TOKEN")
        or ""
    )
    names = settings.getlist("TOPICCRAWL_DASHBOARD_NAMES")
    names += os.environ.get("TOPICCRAWL_DASHBOARD_NAMES", "").split(",")
    if token.lower() == "off":
        return Guard(address, "", (*names,))
    generated = "" if token else secrets.token_urlsafe(24)
    return Guard(address, token or generated, (*names,), shown=bool(generated))


def contributed_routes(settings: BaseSettings, ledger: Ledger) -> list[web.RouteDef]:
    """Return the routes of TOPICCRAWL_DASHBOARD_ROUTES, such as those that control crawls.

    Raises:
        SettingError: If a function cannot be loaded.
    """
    builders = components(settings, "TOPICCRAWL_DASHBOARD_ROUTES")
    return [route for build in builders for route in build(settings, ledger)]
