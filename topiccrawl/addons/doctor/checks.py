"""Check of all settings before a crawl: a wrong one gives a message, not a stack trace."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.settings import default_settings

from topiccrawl import settings as project
from topiccrawl.addons.adaptation.extension import method_of
from topiccrawl.addons.browser.browser import wants_browser
from topiccrawl.addons.dashboard.address import address_of
from topiccrawl.addons.dashboard.reporting import language_of
from topiccrawl.addons.watch.extension import policy_of
from topiccrawl.dedup.choice import method_named
from topiccrawl.discovery.choice import providers_of
from topiccrawl.errors import SettingError
from topiccrawl.extensions.stopping import level_of
from topiccrawl.pipelines.store import listeners_of
from topiccrawl.scheduler.build import limits_of, number, place_named
from topiccrawl.spiders.arguments import watch_mode
from topiccrawl.storage.choice import storage_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from scrapy.settings import BaseSettings

_FRACTIONS = frozenset(
    {
        "DOWNLOAD_TIMEOUT", "TOPICCRAWL_HOST_PAGES", "TOPICCRAWL_MAX_KNOWN",
        "TOPICCRAWL_MAX_QUEUED",
    }
)  # fmt: skip
"""Settings whose default is whole, but that are read as numbers: 7.5 and 1e6 will do."""
_COUNTS = ("CONCURRENT_REQUESTS", "CONCURRENT_REQUESTS_PER_DOMAIN", "TOPICCRAWL_WORK_SITES")
"""Settings where 0 would not mean "no limit", but nothing at all."""


def check_values(settings: BaseSettings) -> None:
    """Read each setting as what its default is, then those that are names and addresses.

    Raises:
        SettingError: Naming the first that cannot be used, its value and what to write.
    """
    _check_kinds(settings)
    address_of(str(settings.get("TOPICCRAWL_DASHBOARD") or ""))
    language_of(settings)
    level_of(settings)
    limits_of(settings)
    method_of(settings)
    method_named(settings["TOPICCRAWL_DUPLICATES"])
    policy_of(settings)
    listeners_of(settings, storage_of(settings).articles())
    providers_of(settings["TOPICCRAWL_DISCOVER"] or "")
    place_named(settings, "any")
    _name(settings, "TOPICCRAWL_CRAWL")
    for name in _COUNTS:
        _at_least_one(settings, name)
    _check_extras(settings)
    for name in ("WARC_DIR", "JOBDIR"):
        _folder(settings, name)


def check_watch(settings: BaseSettings, watch: str) -> None:
    """Refuse to watch pages whose records are evicted.

    Raises:
        SettingError: If both are asked for.
    """
    if watch_mode(watch) and limits_of(settings).max_known:
        raise SettingError(
            f"TOPICCRAWL_MAX_KNOWN is {settings['TOPICCRAWL_MAX_KNOWN']}, which lets go of the"
            f" records that -a watch={watch} needs: set it to 0, or do not watch"
        )


def _check_kinds(settings: BaseSettings) -> None:
    """Flags and numbers."""
    for name, default in [*_declared(default_settings), *_declared(project)]:
        if isinstance(default, bool | int | float) and settings.get(name) is not None:
            (_flag if isinstance(default, bool) else _readable)(settings, name)
    for name, default in _declared(project):
        if not isinstance(default, bool) and isinstance(default, int | float):
            _number(settings, name, whole=isinstance(default, int) and name not in _FRACTIONS)


def _check_extras(settings: BaseSettings) -> None:
    """Refuse extras that are set but not installed; the stores and Redis check their own."""
    wants_browser(settings)
    if settings.get("WARC_DIR") and find_spec("warcio") is None:
        raise SettingError("WARC_DIR needs warcio: pip install 'topiccrawl[warc]'")


def _declared(module: ModuleType) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in vars(module).items() if name.isupper())


def _flag(settings: BaseSettings, name: str) -> None:
    try:
        settings.getbool(name)
    except ValueError as error:
        raise SettingError(f"{name} is {settings[name]!r}: write 1 or 0") from error


def _readable(settings: BaseSettings, name: str) -> None:
    """Refuse what is no number at all; Scrapy checks the range of its own settings."""
    try:
        float(settings[name])
    except (TypeError, ValueError) as error:
        raise SettingError(f"{name} is {settings[name]!r}: give a number") from error


def _number(settings: BaseSettings, name: str, *, whole: bool) -> None:
    number(settings, name)
    try:
        if whole:
            settings.getint(name)
    except ValueError as error:
        raise SettingError(f"{name} is {settings[name]!r}: give a whole number") from error


def _at_least_one(settings: BaseSettings, name: str) -> None:
    if settings.getint(name) < 1:
        raise SettingError(f"{name} is {settings[name]!r}: give a whole number above 0")


def _name(settings: BaseSettings, name: str) -> None:
    if not re.fullmatch(r"(?!\.)[\w.-]*", str(settings.get(name) or "")):
        raise SettingError(f"{name} is {settings[name]!r}: write letters, digits and .-_ only")


def _folder(settings: BaseSettings, name: str) -> None:
    if not settings.get(name):
        return
    try:
        Path(settings[name]).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{name} is {settings[name]!r}: no folder can be made there: {error.strerror}"
        raise SettingError(message) from error
