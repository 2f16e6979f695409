"""Checks of settings before a crawl: kinds of values, folders, unknown names without effect."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from topiccrawl import settings as project
from topiccrawl.errors import ConfigurationError, SettingError, translated
from topiccrawl.links.strategies.parameters import StrategyParameters
from topiccrawl.messages import language_named, message
from topiccrawl.scheduler.build import limits_of
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.scheduler.hooks import (
    PREFIX,
    components,
    flag_of,
    load_component,
    number,
    parameter_settings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FRACTIONS = frozenset(
    {
        "DOWNLOAD_TIMEOUT", "TOPICCRAWL_HOST_PAGES", "TOPICCRAWL_MAX_KNOWN",
        "TOPICCRAWL_MAX_QUEUED",
    }
)  # fmt: skip
"""Settings with an integer default that are read as numbers, so that 7.5 and 1e6 are valid."""

YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"", "0", "false", "no", "off"})
"""Values of boolean arguments of spiders."""

FROM_ENVIRONMENT = frozenset(
    {
        "TOPICCRAWL_DASHBOARD_TOKEN",
        "TOPICCRAWL_DASHBOARD_NAMES",
        "TOPICCRAWL_LANGUAGE",
        "TOPICCRAWL_WEBHOOK",
        "TOPICCRAWL_WEBHOOK_SECRET",
    }
)
"""Settings that are also read from the environment."""
_COMPONENTS = ("TOPICCRAWL_RELEVANCE", "TOPICCRAWL_READER", "TOPICCRAWL_ADAPTER")
"""Settings that name a class or function which is first needed when a crawl has begun."""
_TESTS = "TOPICCRAWL_TEST_"
_SIMILARITY = 0.9
"""Minimum similarity of a name without our prefix to a known name to count as a misspelling."""
OURS = frozenset(
    [name for name in vars(project) if name.startswith(PREFIX)]
    + list(parameter_settings(PREFIX, StrategyParameters))
)
KNOWN = OURS | {name for name in (*vars(project), *vars(default_settings)) if name.isupper()}


def check_values(settings: BaseSettings) -> None:
    """Check that each setting has the type of its default, and check names and folders.

    The functions named in TOPICCRAWL_CHECKS check the settings of other packages and add-ons.

    Raises:
        SettingError: A setting cannot be used; names the setting, its value and the remedy.
    """
    _check_kinds(settings)
    check_language(settings)
    for name in ("CONCURRENT_REQUESTS", "CONCURRENT_REQUESTS_PER_DOMAIN"):
        check_count(settings, name)
    if settings["TOPICCRAWL_READERS"] not in ("", None):  # by default, from the number of cores
        _check_number(settings, "TOPICCRAWL_READERS", whole=True)
    limits_of(settings)
    check_data_folder(settings)
    for name in ("TOPICCRAWL_DATA_DIR", "JOBDIR"):
        _check_path(settings, name)
    frontiers_of(settings).place("any")
    _check_name(settings, "TOPICCRAWL_CRAWL")
    check_folder(settings, "JOBDIR")
    for name in filter(settings.get, _COMPONENTS):
        load_component(name, settings[name])
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


def check_data_folder(settings: BaseSettings) -> None:
    """Refuse an empty TOPICCRAWL_DATA_DIR, which would be the current folder.

    Raises:
        SettingError: It is empty.
    """
    if not settings["TOPICCRAWL_DATA_DIR"]:
        raise SettingError("TOPICCRAWL_DATA_DIR is empty: name a folder; . is the current one")


def check_language(settings: BaseSettings) -> None:
    """Refuse a language without a catalogue, which would be that of the environment.

    Raises:
        SettingError: TOPICCRAWL_LANGUAGE is neither empty nor a form of en or zh.
    """
    if (value := str(settings.get("TOPICCRAWL_LANGUAGE") or "")) and not language_named(value):
        raise SettingError("TOPICCRAWL_LANGUAGE is {value!r}: set it to en or zh", value=value)


def check_folder(settings: BaseSettings, name: str) -> None:
    """Create the folder of a setting, and a file in it; do nothing if the setting is empty.

    Raises:
        SettingError: The folder cannot be created or written.
    """
    if value := settings.get(name):
        text = message(
            "{name} is {value!r}: the folder cannot be written: {strerror}: "
            "give this user write access, or choose another folder"
        )
        with translated(SettingError, text, name=name, value=value):
            Path(value).mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=value).close()


def _check_path(settings: BaseSettings, name: str) -> None:
    """Refuse a path that is not UTF-8: records of crawls have paths as text."""
    value = settings.get(name) or ""
    text = message(
        "{name} is {value!r}: the path is not UTF-8: rename its folders, or set LC_ALL=C.UTF-8"
    )
    with translated(SettingError, text, (UnicodeEncodeError,), name=name, value=value):
        str(Path(value).absolute()).encode()


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
    value, text = settings[name], message("{name} is {value!r}: give a number")
    with translated(SettingError, text, (TypeError, ValueError), name=name, value=value):
        float(value)


def _check_number(settings: BaseSettings, name: str, *, whole: bool) -> None:
    number(settings, name)
    value, text = settings[name], message("{name} is {value!r}: give a whole number")
    if whole:
        with translated(SettingError, text, (ValueError,), name=name, value=value):
            settings.getint(name)


def _check_name(settings: BaseSettings, name: str) -> None:
    if not re.fullmatch(r"(?!\.)[\w.-]*", str(settings.get(name) or "")):
        raise SettingError(
            "{name} is {value!r}: write letters, digits and .-_ only",
            name=name,
            value=settings[name],
        )


def unknown_settings(settings: BaseSettings, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a warning for each name without effect, with a suggestion.

    Checked are unknown settings that begin with TOPICCRAWL_, settings of the project or the command
    line that are similar to a known name, and environment variables that begin with TOPICCRAWL_ and
    are not read.

    >>> from scrapy.settings import Settings
    >>> list(unknown_settings(Settings({"TOPICCRAWL_PAGE": 9}), {}))
    ['unknown setting TOPICCRAWL_PAGE has no effect: did you mean TOPICCRAWL_PAGES?']
    """
    for name in sorted(map(str, settings)):
        if name not in KNOWN and (text := _hint(settings, name)):
            yield f"unknown setting {name} has no effect{text}"
    for name, value in sorted(environment.items()):
        if not name.startswith(PREFIX) or name.startswith(_TESTS) or name in FROM_ENVIRONMENT:
            continue
        if name not in OURS:
            yield f"environment: unknown variable {name} has no effect{_suggestion(name)}"
        elif not _has_value(settings, name, value):
            yield f"environment: {name} is not read from the environment: use -s {name}=..."


def _hint(settings: BaseSettings, name: str) -> str:
    """Return a hint for an unknown setting; "" for settings of other packages."""
    if name.startswith(PREFIX):
        return _suggestion(name) or "; topiccrawl/settings.py lists all settings"
    if (settings.getpriority(name) or 0) < SETTINGS_PRIORITIES["project"]:
        return ""
    found = get_close_matches(name, KNOWN, 1, _SIMILARITY)
    return f": did you mean {found[0]}?" if found else ""


def _suggestion(name: str) -> str:
    """Suggest the most similar setting, compared without the common prefix."""
    own = [known.removeprefix(PREFIX) for known in OURS]
    found = get_close_matches(name.removeprefix(PREFIX), own, 1)
    return f": did you mean {PREFIX}{found[0]}?" if found else ""


def _has_value(settings: BaseSettings, name: str, value: str) -> bool:
    """Return whether a setting has a value; settings files may read it from the environment."""
    known = settings.get(name)
    texts = [known] if isinstance(known, str) else map(str, known or [])
    return str(known) == value or ",".join(texts) == value


def flag(name: str, value: str) -> bool:
    """Parse a boolean argument.

    Raises:
        ConfigurationError: If the value is not a boolean.

    >>> flag("fresh", "1"), flag("fresh", "")
    (True, False)
    """
    if value.lower() in YES | NO:
        return value.lower() in YES
    raise ConfigurationError(
        "argument {name} is {value!r}: write {name}=1 or {name}=0", name=name, value=value
    )
