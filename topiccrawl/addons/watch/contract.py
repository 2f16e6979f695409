"""The contract between a watch and its policy: the record of a page, and its next visit.

A policy is pure except for what it may learn from all pages together: no clock, no I/O. The caller
keeps the records, asks ``due`` after every ``learn``, and visits under the hosts' politeness:
a page may be visited later than it is due, never sooner.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Protocol, Self

from topiccrawl.storage.pages import Role


@dataclass(frozen=True, slots=True)
class Visits:
    """Record of one page from all visits so far. Times are seconds since the epoch.

    ``gains``, ``changes``, ``looks`` and ``watched`` may decay: a policy determines how fast.

    Attributes:
        url: Canonical URL.
        role: Hub or detail; a page that begins to list links may become a hub.
        first_seen: First visit.
        visited_at: Last visit.
        visits: Visits so far, the first one included.
        gains: New on-topic articles that the page was first to show, without the first visit's.
        changes: Visits at which its content differed from the visit before.
        looks: Visits after the first.
        watched: Seconds between the first and the last visit.
        gained_at: When it last showed something new on topic; 0: never.
        changed_at: When its content was last found changed; 0: never.
        misses: Failed visits in a row; 404 and 410 are failures, 304 is none.
        published: Publication time of a detail page's article; 0 if unknown.
        memory: The policy's own numbers, kept and passed back unchanged.
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
        """Return the record of a ``to_dict`` result; fields of later versions are left out."""
        known = {field.name for field in fields(cls)}
        kept = {name: value for name, value in values.items() if name in known}
        return cls(**{**kept, "role": Role(kept["role"]), "memory": tuple(kept.get("memory", ()))})


@dataclass(frozen=True, slots=True)
class Observation:
    """Result of one visit; or, if ``visit`` is False, a later addition to the last one.

    An on-topic article is detected only when its own page is fetched, a while after the hub that
    showed its link. A visit itself is reported at once (mostly with ``gained`` 0), each article
    found through it by a further observation with ``visit`` False, of which only ``at`` and
    ``gained`` count. A simulation may report both at once.

    Attributes:
        at: Seconds since the epoch.
        changed: Whether the content differed from the visit before; False at 304.
        gained: New on-topic articles that the page was first to show.
        offered: Links on it that were not there at the visit before.
        status: HTTP status; 0 if there was no response.
        visit: Whether this reports a visit itself.
    """

    at: float
    changed: bool = False
    gained: int = 0
    offered: int = 0
    status: int = 200
    visit: bool = True


class RevisitPolicy(Protocol):
    """Schedule of revisits. Deterministic for one order of calls and one seed."""

    def due(self, page: Visits) -> float:
        """Return the time of the next visit, seconds since the epoch; ``math.inf``: never."""
        ...

    def learn(self, page: Visits, seen: Observation) -> Visits:
        """Return the record after an observation; that of a visit updates ``visited_at``.

        The first visit is no observation: it makes the record (``Visits(url, role, at, at)``).
        """
        ...
