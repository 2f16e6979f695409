"""All that is examined, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from topiccrawl.addons.doctor.machine import clock, disk, memory, ports
from topiccrawl.addons.doctor.packages import dictionary, extras, versions
from topiccrawl.addons.doctor.servers import mongodb, redis
from topiccrawl.addons.doctor.setup import manners, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from scrapy.settings import BaseSettings

    from topiccrawl.scheduler.findings import Finding

ROUNDS: Mapping[str, Callable[[BaseSettings], Iterable[Finding]]] = {
    "versions": versions,
    "extras": extras,
    "settings": settings,
    "manners": manners,
    "dictionary": dictionary,
    "disk": disk,
    "memory": memory,
    "clock": clock,
    "ports": ports,
    "redis": redis,
    "mongodb": mongodb,
}


def examine(given: BaseSettings, names: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield what is found, of all or of what is named.

    Raises:
        UsageError: If nothing is examined by that name.
    """
    for name in names:
        if name not in ROUNDS:
            raise UsageError(f"nothing is examined by the name {name!r}: {', '.join(ROUNDS)}",
                             print_help=False)  # fmt: skip
    for name in names or ROUNDS:
        yield from ROUNDS[name](given)
