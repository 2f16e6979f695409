"""From settings to a page's door."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from topiccrawl.dashboard.guard import Address, Guard

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


def guard_of(settings: BaseSettings, address: Address) -> Guard:
    """Return who may see a page; where other machines reach it and no token is set, one is made."""
    token = str(
        settings.get("TOPICCRAWL_DASHBOARD_TOKEN")
        or os.environ.get("TOPICCRAWL_DASHBOARD_TOKEN")
        or ""
    )
    names = settings.getlist("TOPICCRAWL_DASHBOARD_NAMES")
    return Guard(address, token or ("" if address.local else secrets.token_urlsafe(24)), (*names,))
