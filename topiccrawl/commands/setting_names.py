"""Warnings about unknown setting names, which would silently have no effect."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from topiccrawl import settings as project
from topiccrawl.links.strategies.parameters import StrategyParameters
from topiccrawl.scheduler.hooks import PREFIX, parameter_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


FROM_ENVIRONMENT = frozenset(
    {
        "TOPICCRAWL_DASHBOARD_TOKEN",
        "TOPICCRAWL_DASHBOARD_NAMES",
        "TOPICCRAWL_WEBHOOK",
        "TOPICCRAWL_WEBHOOK_SECRET",
    }
)
"""Settings that are also read from the environment."""
_TESTS = "TOPICCRAWL_TEST_"
_SIMILARITY = 0.9
"""Minimum similarity of a name without our prefix to a known name to count as a misspelling."""
OURS = frozenset(
    [name for name in vars(project) if name.startswith(PREFIX)]
    + list(parameter_settings(PREFIX, StrategyParameters))
)
KNOWN = OURS | {name for name in (*vars(project), *vars(default_settings)) if name.isupper()}


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
