"""Unknown names of settings: a misspelt one would silently have no effect."""

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
"""Names that are also read from the environment."""
_TESTS = "TOPICCRAWL_TEST_"
_ALIKE = 0.9
"""Similarity from which a name without our prefix is taken for a misspelt known one."""
OURS = frozenset(
    [name for name in vars(project) if name.startswith(PREFIX)]
    + list(parameter_settings(PREFIX, StrategyParameters))
)
KNOWN = OURS | {name for name in (*vars(project), *vars(default_settings)) if name.isupper()}


def strangers(settings: BaseSettings, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each name that has no effect, and what was probably meant.

    Of the settings: what begins with TOPICCRAWL_ and is none of ours, and other names of the
    project or the command line that differ little from a known one. Of the environment: what
    begins with TOPICCRAWL_ and is not read, or not read from there.

    >>> from scrapy.settings import Settings
    >>> list(strangers(Settings({"TOPICCRAWL_PAGE": 9}), {}))
    ['setting TOPICCRAWL_PAGE is not known and does nothing: did you mean TOPICCRAWL_PAGES?']
    """
    for name in sorted(map(str, settings)):
        if name not in KNOWN and (text := _unknown(settings, name)):
            yield f"setting {name} is not known and does nothing{text}"
    for name, value in sorted(environment.items()):
        if not name.startswith(PREFIX) or name.startswith(_TESTS) or name in FROM_ENVIRONMENT:
            continue
        if name not in OURS:
            yield f"environment: {name} is not known and does nothing{_near_ours(name)}"
        elif not _is(settings, name, value):
            yield f"environment: {name} is not read from there: write -s {name}=..."


def _unknown(settings: BaseSettings, name: str) -> str:
    """The rest of the line for an unknown setting; "" for one that is not ours."""
    if name.startswith(PREFIX):
        return _near_ours(name) or "; topiccrawl/settings.py lists those there are"
    if (settings.getpriority(name) or 0) < SETTINGS_PRIORITIES["project"]:
        return ""
    found = get_close_matches(name, KNOWN, 1, _ALIKE)
    return f": did you mean {found[0]}?" if found else ""


def _near_ours(name: str) -> str:
    """Suggest the name that was probably meant, compared without the common prefix."""
    own = [known.removeprefix(PREFIX) for known in OURS]
    found = get_close_matches(name.removeprefix(PREFIX), own, 1)
    return f": did you mean {PREFIX}{found[0]}?" if found else ""


def _is(settings: BaseSettings, name: str, value: str) -> bool:
    """Return whether a setting has the environment's value: settings files may read it there."""
    known = settings.get(name)
    texts = [known] if isinstance(known, str) else map(str, known or [])
    return str(known) == value or ",".join(texts) == value
