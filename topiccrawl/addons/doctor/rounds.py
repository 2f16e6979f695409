"""Examinations of the doctor, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from topiccrawl.addons.doctor.machine import clock, disk, memory, state
from topiccrawl.addons.doctor.packages import dictionary, extras, versions
from topiccrawl.addons.doctor.setup import manners, settings
from topiccrawl.scheduler.hooks import loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from scrapy.settings import BaseSettings

    from topiccrawl.scheduler.findings import Finding

    Round = Callable[[BaseSettings], Iterable[Finding]]

ROUNDS: Mapping[str, Round] = {
    "versions": versions,
    "extras": extras,
    "settings": settings,
    "manners": manners,
    "dictionary": dictionary,
    "disk": disk,
    "state": state,
    "memory": memory,
    "clock": clock,
}


def rounds_of(given: BaseSettings) -> dict[str, Round]:
    """Return all examinations by name: those above, and those of TOPICCRAWL_EXAMINATIONS.

    Raises:
        SettingError: One cannot be loaded.
    """
    name = "TOPICCRAWL_EXAMINATIONS"
    others = {key: loaded(name, path) for key, path in given.getdict(name).items() if path}
    return {**ROUNDS, **others}


def examine(given: BaseSettings, names: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield what is found, of all or of what is named.

    Raises:
        UsageError: If nothing is examined by that name.
    """
    rounds = rounds_of(given)
    for name in names:
        if name not in rounds:
            raise UsageError(f"nothing is examined by the name {name!r}: {', '.join(rounds)}",
                             print_help=False)  # fmt: skip
    for name in names or rounds:
        yield from rounds[name](given)
