"""Dashboard routes of tasks and of orders to crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.tasks.commands.tasks import checker
from topiccrawl.addons.tasks.http import order_routes, task_routes
from topiccrawl.addons.tasks.service import TaskService
from topiccrawl.scheduler.build import addresses_of
from topiccrawl.storage.ledger import Control, Ledger

if TYPE_CHECKING:
    from aiohttp import web
    from scrapy.settings import BaseSettings


def routes(settings: BaseSettings, ledger: Ledger) -> list[web.RouteDef]:
    """Return the routes that control crawls and tasks."""
    service = TaskService(ledger, checker(settings))
    files = str(settings.get("TOPICCRAWL_ORDER_FILES") or "")
    addresses = addresses_of(settings)
    orders = order_routes(Control(ledger), addresses)
    return [*orders, *task_routes(service, addresses, files)]
