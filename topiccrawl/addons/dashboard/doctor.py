"""Examination of the port that a crawl would open."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from topiccrawl.addons.dashboard.address import address_in
from topiccrawl.errors import SettingError
from topiccrawl.scheduler.findings import Finding, fail, ok, warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings


def examine(settings: BaseSettings) -> Iterator[Finding]:
    """Check the port that a crawl would open: whether it is free, and who can reach it."""
    try:
        address = address_in(settings)
    except SettingError as error:
        yield fail("ports", str(error), "correct it")
        return
    if address is None:
        yield ok("ports", "a crawl opens none (TOPICCRAWL_DASHBOARD is off)")
        return
    place = f"{address.host}:{address.port}"
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((address.host, address.port))
        except OSError as error:
            remedy = "name another with TOPICCRAWL_DASHBOARD=ADDRESS:PORT, or 0 for any free one"
            yield warn("ports", f"{place}: {error.strerror}", remedy)
            return
    if address.local or settings.get("TOPICCRAWL_DASHBOARD_TOKEN"):
        yield ok("ports", f"{place} is free for the dashboard")
    else:
        remedy = "set TOPICCRAWL_DASHBOARD_TOKEN, or a new one is made for every crawl"
        yield warn("ports", f"{place} can be reached from other machines", remedy)
