"""A demo web that changes: two editions, and their differences.

    before, after = Changing(generate(7)).editions
    ...  # crawl ``before``, let the server serve ``after``, crawl again, compare with ``changes``

Pages that neither changed nor link to anything that did have equal bytes in both editions.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from lab.demo.plan import Kind, Trait
from lab.demo.web import Web

if TYPE_CHECKING:
    from lab.demo.plan import Plan

_NOT_FOUND, _GONE = 404, 410


class Changes(NamedTuple):
    """URLs of articles on topic that differ between two editions, sorted.

    Attributes:
        new: URLs only in the second edition.
        changed: URLs in both editions with different texts.
        gone: URLs only in the first edition.
    """

    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]


class Changing:
    """Two editions of a web.

    Args:
        web: Web with the pages of both editions.
        seed: Chooses what changes.
        each: Number of articles that are added, changed and removed.

    Attributes:
        editions: The web before and after.
        changes: Differences, for articles that a polite crawler can fetch.
    """

    def __init__(self, web: Web, seed: int = 0, each: int = 5) -> None:
        chosen = _stories(web)
        random.Random(f"{web.plan.seed}/changes/{seed}").shuffle(chosen)  # noqa: S311
        late, edited, lost = (frozenset(chosen[n * each : (n + 1) * each]) for n in range(3))
        before = _edition(web.plan, late, frozenset(), frozenset())
        after = _edition(web.plan, frozenset(), lost, edited)
        self.editions = before, after
        had, has = (_articles(edition) for edition in self.editions)
        urls = [entry.url for entry in web.plan.entries]
        self.changes = Changes(
            tuple(sorted(urls[n] for n in has - had)),
            tuple(sorted(urls[n] for n in edited & had & has)),
            tuple(sorted(urls[n] for n in lost & had)),
        )


def _stories(web: Web) -> list[int]:
    """Return plain on-topic articles without copies and without links in running text."""
    entries = web.plan.entries
    counts = Counter(entry.story for entry in entries)
    named = {
        target
        for number in range(len(entries))
        for block in web.linkage.blocks(number)
        if block.role == "inline"
        for target in block.targets
    }
    plain = _articles(web) - named - web.plan.traits.keys()
    return sorted(n for n in plain if entries[n].of < 0 and counts[entries[n].story] == 1)


def _articles(web: Web) -> frozenset[int]:
    found = web.relevant & web.obtainable
    return frozenset(n for n in found if web.plan.entries[n].kind == Kind.ARTICLE)


def _edition(plan: Plan, late: frozenset[int], lost: frozenset[int], edited: frozenset[int]) -> Web:
    """Return the web without pages that do not exist in an edition."""
    absent = {n: Trait(status=_NOT_FOUND) for n in late}
    absent |= {n: Trait(status=_GONE if n % 2 else _NOT_FOUND) for n in lost}
    traits = {**plan.traits, **absent}
    return Web(replace(plan, traits=traits, absent=late | lost, edited=edited, validators="mixed"))
