"""Interface of revisit policies: the record of a page's visits, and the time of the next visit.

A policy reads no clock and does no I/O. Its only state is what it learns from all pages together.
The caller stores the records and calls ``due`` after every ``learn``, and for all stored hubs at
the start. As hosts' delays apply, a page may be visited later than it is due, but never earlier.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Protocol, Self

from topiccrawl.storage.pages import Role

FAILED = 400
"""Lowest HTTP status of a failed visit; a visit without a response (0) has failed as well."""


@dataclass(frozen=True, slots=True)
class Visits:
    """Record of all visits of a page. Times are seconds since the epoch.

    ``gains``, ``changes``, ``looks`` and ``watched`` may decay at a rate set by the policy.

    Attributes:
        url: Canonical URL.
        role: Hub or detail; a page that starts to list links may become a hub.
        first_seen: Time of the first visit.
        visited_at: Time of the last visit.
        visits: Number of visits, including the first one.
        gains: Number of new on-topic articles that the page showed first, except at its first
            visit.
        changes: Number of visits at which the content differed from the previous visit.
        looks: Number of visits after the first one.
        watched: Seconds between the first and the last visit.
        gained_at: Time of the last new on-topic article; 0 if there was none.
        changed_at: Time at which the content was last found changed; 0 if never.
        misses: Number of consecutive failed visits; 404 and 410 are failures, 304 is not.
        published: Publication time of a detail page's article; 0 if unknown.
        memory: Numbers of the policy, stored and passed back unchanged.
    """

    url: str
    role: Role
    first_seen: float
    visited_at: float
    visits: int = 1
    gains: float = 0.0
    changes: float = 0.0
    looks: float = 0.0
    watched: float = 0.0
    gained_at: float = 0.0
    changed_at: float = 0.0
    misses: int = 0
    published: float = 0.0
    memory: tuple[float, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain JSON values.

        >>> one = Visits("http://a.test/", Role.HUB, 10.0, 20.0, memory=(0.5,))
        >>> Visits.from_dict(one.to_dict()) == one
        True
        """
        return {**asdict(self), "role": str(self.role), "memory": list(self.memory)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the record of a ``to_dict`` result; unknown fields are ignored."""
        names = {field.name for field in fields(cls)}
        found = {name: value for name, value in values.items() if name in names}
        memory = tuple(found.get("memory", ()))
        return cls(**{**found, "role": Role(found["role"]), "memory": memory})

    def after(self, seen: Observation) -> Visits:
        """Return the record after an observation; counts do not decay.

        >>> page = Visits("http://a.test/", Role.HUB, 0.0, 0.0)
        >>> page = page.after(Observation(60.0, changed=True, offered=3))
        >>> page = page.after(Observation(65.0, gained=2, visit=False))
        >>> page.visits, page.looks, page.changes, page.gains, page.watched, page.gained_at
        (2, 1.0, 1.0, 2.0, 60.0, 65.0)
        """
        gains = self.gains + seen.gained
        gained_at = seen.at if seen.gained else self.gained_at
        if not seen.visit:
            return replace(self, gains=gains, gained_at=gained_at)
        failed = seen.status == 0 or seen.status >= FAILED
        return replace(
            self,
            visited_at=seen.at,
            visits=self.visits + 1,
            gains=gains,
            changes=self.changes + seen.changed,
            looks=self.looks + 1.0,
            watched=self.watched + max(0.0, seen.at - self.visited_at),
            gained_at=gained_at,
            changed_at=seen.at if seen.changed else self.changed_at,
            misses=self.misses + 1 if failed else 0,
        )


@dataclass(frozen=True, slots=True)
class Observation:
    """Result of a visit or, if ``visit`` is False, a later addition to it.

    An on-topic article is detected when its own page is fetched, some time after the hub that
    links to it. Therefore a visit is reported at once, usually with ``gained`` 0, and each article
    found through it is reported by another observation with ``visit`` False, of which only ``at``
    and ``gained`` are used. A simulation may report both at once.

    Attributes:
        at: Time of the observation, seconds since the epoch.
        changed: Whether the content differed from the previous visit; False for status 304.
        gained: Number of new on-topic articles that the page showed first.
        offered: Number of links that were not on the page at the previous visit.
        status: HTTP status; 0 if there was no response.
        visit: Whether this reports the visit itself.
    """

    at: float
    changed: bool = False
    gained: int = 0
    offered: int = 0
    status: int = 200
    visit: bool = True


class RevisitPolicy(Protocol):
    """Schedule of revisits. It must be deterministic for a given order of calls and seed."""

    def due(self, page: Visits) -> float:
        """Return the time of the next visit, seconds since the epoch; ``math.inf`` for never."""

    def learn(self, page: Visits, seen: Observation) -> Visits:
        """Return the record after an observation; one of a visit also updates ``visited_at``.

        The first visit is not observed; it creates the record (``Visits(url, role, at, at)``).
        """
