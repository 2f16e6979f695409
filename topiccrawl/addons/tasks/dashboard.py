"""Tasks and orders to crawls on the dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.tasks.commands.tasks import checker
from topiccrawl.addons.tasks.desk import Desk
from topiccrawl.addons.tasks.http import order_routes, task_routes
from topiccrawl.scheduler.build import addresses_of
from topiccrawl.storage.control import Control

if TYPE_CHECKING:
    from aiohttp import web
    from scrapy.settings import BaseSettings

    from topiccrawl.storage.ledger import Ledger


def routes(settings: BaseSettings, ledger: Ledger) -> list[web.RouteDef]:
    """Return the routes by which crawls and tasks are steered."""
    desk = Desk(ledger, checker(settings))
    files = str(settings.get("TOPICCRAWL_ORDER_FILES") or "")
    orders = order_routes(Control(ledger), addresses_of(settings))
    return [*orders, *task_routes(desk, files)]
