"""From settings to a page's door, and to what may be steered through it."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from topiccrawl.addons.dashboard.guard import Guard
from topiccrawl.addons.tasks.desk import Desk
from topiccrawl.addons.tasks.http import order_routes, task_routes
from topiccrawl.storage.control import Control

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiohttp import web
    from scrapy.settings import BaseSettings

    from topiccrawl.addons.dashboard.address import Address
    from topiccrawl.addons.tasks.records import Wish
    from topiccrawl.storage.ledger import Ledger


def guard_of(settings: BaseSettings, address: Address) -> Guard:
    """Return a page's guard; generate a token if other machines reach it and none is set."""
    token = str(
        settings.get("TOPICCRAWL_DASHBOARD_TOKEN")
        or os.environ.get("TOPICCRAWL_DASHBOARD_TOKEN")
        or ""
    )
    names = settings.getlist("TOPICCRAWL_DASHBOARD_NAMES")
    names += os.environ.get("TOPICCRAWL_DASHBOARD_NAMES", "").split(",")
    made = "" if token or address.local else secrets.token_urlsafe(24)
    return Guard(address, token or made, (*names,), shown=bool(made))


def steering_routes(ledger: Ledger, check: Callable[[Wish], None]) -> list[web.RouteDef]:
    """Return the routes by which crawls and tasks are steered; ``check`` as ``Desk`` has it."""
    return [*order_routes(Control(ledger)), *task_routes(Desk(ledger, check))]
