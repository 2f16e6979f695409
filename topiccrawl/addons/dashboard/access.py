"""From settings to a page's access control, and to the routes that other parts contribute."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from topiccrawl.addons.dashboard.guard import Guard
from topiccrawl.scheduler.hooks import components

if TYPE_CHECKING:
    from aiohttp import web
    from scrapy.settings import BaseSettings

    from topiccrawl.addons.dashboard.address import Address
    from topiccrawl.storage.ledger import Ledger


def guard_of(settings: BaseSettings, address: Address) -> Guard:
    """Return a page's guard; generate a token if none is set and tokens are not off."""
    token = str(
        settings.get("TOPICCRAWL_DASHBOARD_TOKEN")
        or os.environ.get("TOPICCRAWL_DASHBOARD_TOKEN")
        or ""
    )
    names = settings.getlist("TOPICCRAWL_DASHBOARD_NAMES")
    names += os.environ.get("TOPICCRAWL_DASHBOARD_NAMES", "").split(",")
    if token.lower() == "off":
        return Guard(address, "", (*names,))
    made = "" if token else secrets.token_urlsafe(24)
    return Guard(address, token or made, (*names,), shown=bool(made))


def contributed_routes(settings: BaseSettings, ledger: Ledger) -> list[web.RouteDef]:
    """Return the routes of TOPICCRAWL_DASHBOARD_ROUTES, such as those that steer crawls and tasks.

    Raises:
        SettingError: One cannot be loaded.
    """
    builders = components(settings, "TOPICCRAWL_DASHBOARD_ROUTES")
    return [route for build in builders for route in build(settings, ledger)]
