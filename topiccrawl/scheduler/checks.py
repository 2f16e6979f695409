"""Checks of settings before a crawl: kinds of values, names, folders."""

from __future__ import annotations

import re
from pathlib import Path

from scrapy.settings import BaseSettings, default_settings

from topiccrawl import settings as project
from topiccrawl.errors import SettingError
from topiccrawl.scheduler.build import limits_of
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.scheduler.hooks import components, flag_of, number

_FRACTIONS = frozenset(
    {
        "DOWNLOAD_TIMEOUT", "TOPICCRAWL_HOST_PAGES", "TOPICCRAWL_MAX_KNOWN",
        "TOPICCRAWL_MAX_QUEUED",
    }
)  # fmt: skip
"""Settings with an integer default that are read as numbers, so that 7.5 and 1e6 are valid."""


def check_values(settings: BaseSettings) -> None:
    """Check that each setting has the type of its default, and check names and folders.

    The functions named in TOPICCRAWL_CHECKS check the settings of other packages and add-ons.

    Raises:
        SettingError: A setting cannot be used; names the setting, its value and the remedy.
    """
    _check_kinds(settings)
    for name in ("CONCURRENT_REQUESTS", "CONCURRENT_REQUESTS_PER_DOMAIN"):
        check_count(settings, name)
    limits_of(settings)
    frontiers_of(settings).place("any")
    _check_name(settings, "TOPICCRAWL_CRAWL")
    check_folder(settings, "JOBDIR")
    for check in components(settings, "TOPICCRAWL_CHECKS"):
        check(settings)


def check_count(settings: BaseSettings, name: str) -> None:
    """Refuse 0 for a setting where it would not mean "no limit".

    Raises:
        SettingError: The setting is not a whole number above 0.
    """
    _check_number(settings, name, whole=True)
    if settings.getint(name) < 1:
        raise SettingError(
            "{name} is {value!r}: give a whole number above 0", name=name, value=settings[name]
        )


def check_folder(settings: BaseSettings, name: str) -> None:
    """Create the folder of a setting; do nothing if the setting is empty.

    Raises:
        SettingError: The folder cannot be created.
    """
    if not settings.get(name):
        return
    try:
        Path(settings[name]).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(
            "{name} is {value!r}: the folder cannot be created: {strerror}",
            name=name,
            value=settings[name],
            strerror=error.strerror,
        ) from error


def _check_kinds(settings: BaseSettings) -> None:
    """Check flags and numbers of Scrapy and of the project."""
    for module in (default_settings, project):
        for name, default in vars(module).items():
            if not name.isupper() or not isinstance(default, bool | int | float):
                continue
            is_set, is_whole = settings.get(name) is not None, isinstance(default, int)
            if module is project and not isinstance(default, bool):
                _check_number(settings, name, whole=is_whole and name not in _FRACTIONS)
            elif is_set:
                (flag_of if isinstance(default, bool) else _check_readable)(settings, name)


def _check_readable(settings: BaseSettings, name: str) -> None:
    """Refuse a value that is not a number; Scrapy checks the ranges of its own settings."""
    try:
        float(settings[name])
    except (TypeError, ValueError) as error:
        raise SettingError(
            "{name} is {value!r}: give a number", name=name, value=settings[name]
        ) from error


def _check_number(settings: BaseSettings, name: str, *, whole: bool) -> None:
    number(settings, name)
    try:
        if whole:
            settings.getint(name)
    except ValueError as error:
        raise SettingError(
            "{name} is {value!r}: give a whole number", name=name, value=settings[name]
        ) from error


def _check_name(settings: BaseSettings, name: str) -> None:
    if not re.fullmatch(r"(?!\.)[\w.-]*", str(settings.get(name) or "")):
        raise SettingError(
            "{name} is {value!r}: write letters, digits and .-_ only",
            name=name,
            value=settings[name],
        )
