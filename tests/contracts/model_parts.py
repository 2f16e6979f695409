"""Parts of the reference model of a frontier: a URL, a host's clock, a robots.txt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topiccrawl.model import Evidence

TOP = 0xFFFFFFFF


def quantum(value: float) -> int:
    return min(max(int(value * TOP), 0), TOP)


@dataclass
class Entry:
    url: str
    lane: int
    value: int
    seq: int
    state: str = "queued"
    evidence: Evidence = ()
    anchor: str = ""
    context: str = ""
    version: int = 0
    depth: int = 0
    inlinks: int = 0
    attempts: int = 0
    crashes: int = 0
    redirects: int = 0
    due: float = 0.0
    reason: str = ""
    pinned: bool = False
    counted: bool = False
    parents: list[tuple[int, str]] = field(default_factory=list)
    epoch: int = 0
    expires: float = 0.0

    def linked_by(self, parent: str, offered: int) -> bool:
        """Keep the best three parents; return whether this one is the best so far."""
        best = not self.parents or offered > max(self.parents)[0]
        if len(self.parents) < 3:
            self.parents.append((offered, parent))
        elif offered > min(self.parents)[0]:
            ranks = [rank for rank, _ in self.parents]
            self.parents[ranks.index(min(ranks))] = (offered, parent)
        return best


@dataclass
class Site:
    active: int = 0
    leased: int = 0
    pages: int = 0
    next_at: float = 0.0


@dataclass
class Gate:
    """robots.txt of an origin: unknown, asked, waiting, rules (``/no`` is closed), free or gone."""

    state: str = "unknown"
    expires: float = 0.0
    retry: float = 0.0
    attempts: int = 0
    cause: str = ""
