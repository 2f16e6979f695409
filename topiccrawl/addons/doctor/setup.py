"""Checks of the settings: they are valid and polite."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from topiccrawl import __version__
from topiccrawl.commands.names import strangers
from topiccrawl.errors import ConfigurationError
from topiccrawl.scheduler.build import check_settings
from topiccrawl.scheduler.checks import check_values
from topiccrawl.scheduler.findings import fail, ok, warn
from topiccrawl.scheduler.hooks import check_hooks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from topiccrawl.scheduler.findings import Finding

_DOORS = {
    "TELNETCONSOLE_ENABLED": "a telnet console",
    "REMOTE_CONTROL_ENABLED": "a remote control",
}


def settings(given: BaseSettings) -> Iterator[Finding]:
    """Check that all settings can be read."""
    try:
        check_values(given)
        check_settings(given)
        check_hooks(given)
    except ConfigurationError as error:
        yield fail("settings", str(error), "correct it in settings, environment or command line")
    else:
        yield from names(given)
        yield ok("settings", f"state in {given['TOPICCRAWL_DATA_DIR']}")


def names(given: BaseSettings) -> Iterator[Finding]:
    """Warn of names of settings, or in the environment, that have no effect."""
    for line in strangers(given, os.environ):
        yield warn("settings", line, "correct the name, or take it away")


def manners(given: BaseSettings) -> Iterator[Finding]:
    """Check the settings that concern site owners and other users of the machine."""
    agent = str(given["USER_AGENT"])
    if "@" not in agent and "://" not in agent:
        remedy = f"USER_AGENT='topiccrawl/{__version__} (+https://you.example/crawler)'"
        yield warn("user agent", f"{agent!r} names no address of yours", remedy)
    if not given.getbool("ROBOTSTXT_OBEY"):
        yield warn("robots.txt", "is not obeyed", "ROBOTSTXT_OBEY=1 unless the sites are yours")
    delay = given.getfloat("DOWNLOAD_DELAY")
    if delay < 0.5:  # noqa: PLR2004 - half of our default
        remedy = "1 second or more for sites that are not yours"
        yield warn("delay", f"DOWNLOAD_DELAY is {delay:g} s", remedy)
    for name, door in _DOORS.items():
        if given.getbool(name):
            yield warn("door", f"{name} opens {door}, which runs any code", f"{name}=0")
    if agent and delay:
        yield ok("manners", f"one request to a host every {delay:g} s")
