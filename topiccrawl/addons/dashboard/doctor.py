"""Check of the dashboard's port, for ``scrapy doctor``."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from topiccrawl.addons.dashboard.address import address_in
from topiccrawl.errors import SettingError
from topiccrawl.messages import localize, tr
from topiccrawl.scheduler.findings import Finding, fail, ok, warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings


def examine(settings: BaseSettings) -> Iterator[Finding]:
    """Check whether the port of the dashboard is free, and who can reach it."""
    try:
        address = address_in(settings)
    except SettingError as error:
        yield fail("ports", localize(error), tr("correct the setting"))
        return
    if address is None:
        yield ok("ports", tr("crawls open no port (TOPICCRAWL_DASHBOARD is off)"))
        return
    place = f"{address.host}:{address.port}"
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address.host, address.port))
        except OSError as error:
            remedy = tr(
                "set TOPICCRAWL_DASHBOARD=ADDRESS:PORT to another port, or to 0 for a free one"
            )
            yield warn("ports", f"{place}: {error.strerror}", remedy)
            return
    if address.local or settings.get("TOPICCRAWL_DASHBOARD_TOKEN"):
        yield ok("ports", tr("{place} is free for the dashboard", place=place))
    else:
        remedy = tr("set TOPICCRAWL_DASHBOARD_TOKEN; otherwise each crawl generates a new token")
        text = tr("{place} can be reached from other machines", place=place)
        yield warn("ports", text, remedy)
