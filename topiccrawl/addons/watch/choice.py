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
    """Settings of the operator for the frequency of visits.

    Attributes:
        rate: Visits of hubs a second, all hubs together (``yield``); 0: by ``host_rate``.
        host_rate: Visits of one host's hubs a second, if ``rate`` is 0.
        shortest: Seconds between two visits of a hub at least (``yield``).
        longest: Seconds between two visits of a hub at most (``yield``).
        hub: Seconds between two visits of a hub (``uniform``).
        detail: Seconds until the first revisit of an article.
        days: Age of an article in days past which it is not revisited.
        miss: Seconds after a failed visit of an article.
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
    """Return the policy of that name.

    Raises:
        SettingError: There is none.
    """
    if name not in POLICIES:
        known = ", ".join(POLICIES)
        raise SettingError(
            "TOPICCRAWL_REVISIT_POLICY is {name!r}: give one of {known}", name=name, known=known
        )
    return POLICIES[name](pace or Pace())
