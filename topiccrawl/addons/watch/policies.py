"""Revisit policies by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiccrawl.addons.watch.budget import HOST_PACE, Budget
from topiccrawl.addons.watch.uniform import (
    DETAIL_DAYS,
    DETAIL_SECONDS,
    HUB_SECONDS,
    UniformRevisits,
)
from topiccrawl.addons.watch.yields import LONGEST, SHORTEST, YieldRevisits
from topiccrawl.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from topiccrawl.addons.watch.contract import RevisitPolicy


@dataclass(frozen=True, slots=True)
class Pace:
    """Settings of the frequency of visits.

    Attributes:
        rate: Visits per second of all hubs together (``yield``); 0 uses ``host_rate``.
        host_rate: Visits per second of one host's hubs, if ``rate`` is 0.
        shortest: Minimum time between two visits of a hub in seconds (``yield``).
        longest: Maximum time between two visits of a hub in seconds (``yield``).
        hub: Time between two visits of a hub in seconds (``uniform``).
        detail: Seconds until the first revisit of an article.
        days: Age in days after which an article is no longer revisited.
        miss: Seconds until the retry of a failed visit of an article.
    """

    rate: float = 0.0
    host_rate: float = HOST_PACE
    shortest: float = SHORTEST
    longest: float = LONGEST
    hub: float = HUB_SECONDS
    detail: float = DETAIL_SECONDS
    days: float = DETAIL_DAYS
    miss: float = 600.0


def _yield(pace: Pace) -> RevisitPolicy:
    return YieldRevisits(
        Budget(pace.rate, pace.host_rate),
        shortest=pace.shortest,
        longest=pace.longest,
        detail=pace.detail,
        days=pace.days,
        miss=pace.miss,
    )


POLICIES: Mapping[str, Callable[[Pace], RevisitPolicy]] = {
    "yield": _yield,
    "uniform": lambda pace: UniformRevisits(pace.hub, pace.detail, pace.days, pace.miss),
}
DEFAULT = "yield"


def policy_named(name: str, pace: Pace | None = None) -> RevisitPolicy:
    """Create the policy of that name.

    Raises:
        SettingError: If there is none.
    """
    if name not in POLICIES:
        known = ", ".join(POLICIES)
        raise SettingError(
            "TOPICCRAWL_REVISIT_POLICY is {name!r}: set it to one of {known}",
            name=name,
            known=known,
        )
    return POLICIES[name](pace or Pace())
