"""Web without pages: numbered URLs on hosts of equal size, and links with random evidence."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from typing_extensions import override

from topiccrawl.links.strategies.contract import BaseStrategy
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.links.strategies.contract import GroupStats
    from topiccrawl.model import Evidence

LINKS = 50
KNOWN = 0.6
ANCHOR = "新能源汽车销量再创新高多家车企"
CONTEXT = "来源本报记者昨日从协会获悉今年前三季度产销两旺出口增长"


class Largest(BaseStrategy):
    """A simple strategy: four numbers, the best parent counts, sections of sites are groups."""

    name = "largest"
    fields: tuple[str, ...] = ("inherited", "anchor", "context", "parents")
    share = (1, 1)
    version = 1

    @override
    def signature(self) -> str:
        """Return a constant, as there are no parameters."""
        return ""

    @override
    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Return the maximum of each number, and the number of parents plus one."""
        if not known:
            return new
        return (
            max(new[0], known[0]),
            max(new[1], known[1]),
            max(new[2], known[2]),
            known[3] + 1.0,
        )

    @override
    def value(self, evidence: Evidence) -> float:
        """Weighted sum in [0, 1]."""
        inherited, anchor, context, parents = evidence
        return 0.4 * inherited + 0.3 * anchor + 0.2 * context + 0.1 * min(parents / 16.0, 1.0)

    @override
    def lane(self, evidence: Evidence) -> int:
        """Return 0, the first lane, for good anchors, else 1."""
        return 0 if evidence[1] > 0.8 else 1  # noqa: PLR2004

    @override
    def group(self, url: str) -> tuple[str, ...]:
        """The first directory."""
        return (url.split("/", 4)[3],)

    @override
    def bias(self, stats: Sequence[GroupStats]) -> float:
        """Return the mean relevance of a group, shrunk towards that of the crawl."""
        mean = 0.5
        for pages, relevance in stats:
            mean = (mean * 4.0 + relevance) / (4.0 + pages)
        return 0.2 * (mean - 0.5)


class Web:
    """URLs by number, on hosts of equal size, and offers for them.

    Args:
        hosts: Number of hosts.
        seed: Seed of the random generator.
    """

    def __init__(self, hosts: int, seed: int = 1) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - not for secrets
        self.hosts = hosts
        self.made = 0

    def url(self, number: int) -> str:
        """URL of a number: host, one of eight sections, a day, an identity."""
        host = number % self.hosts
        page = number // self.hosts
        return f"http://news{host}.example.cn/s{page % 8}/2026-11/21/content_{number}.html"

    def offer(self, number: int) -> Offer:
        """An offer with random evidence."""
        chance = self.rng.random
        evidence = (chance(), chance(), chance(), 1.0)
        return Offer(self.url(number), 1, evidence, ANCHOR, CONTEXT)

    def page(self, share: float = KNOWN) -> list[Offer]:
        """Links of one page: some new, most offered before."""
        new = round(LINKS * (1.0 - share))
        fresh = range(self.made, self.made + new)
        self.made += new
        known = (self.rng.randrange(self.made) for _ in range(LINKS - new))
        return [self.offer(number) for number in (*fresh, *known)]
