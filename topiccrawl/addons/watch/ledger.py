"""Effect of a visit on a page's state: role, change, loss, and the next visit."""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from dataclasses import dataclass, replace
from struct import iter_unpack, pack
from typing import TYPE_CHECKING
from zlib import crc32

from topiccrawl.addons.watch.contract import Observation, RevisitPolicy, Visits
from topiccrawl.storage.pages import MAX_FIRST_RETRY, PageState, Role, sendable

if TYPE_CHECKING:
    from collections.abc import Iterable


GONE = frozenset((404, 410))
"""HTTP statuses of a missing page."""

NOT_MODIFIED = 304

TWICE = 2
"""Visits in a row that must find a page missing before it is gone [S1, methods §7]."""

MOST_LINKS = 2_000
"""Links of a hub that are stored, 4 bytes each."""

SOONEST = 0.001
"""Shortest time between a visit and the next one that a policy may set, in seconds."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Result of a visit.

    Attributes:
        at: Seconds since the epoch.
        status: HTTP status; 0 if there was no response.
        etag: The response's ETag.
        last_modified: Its Last-Modified.
        digest: MD5 of the main text of an article on topic; "" if the page showed none.
        relevance: Of the page, in [0, 1].
        hub: Whether it looks like a page that lists links.
        links: URLs of its links.
        found_on: URL of the page that showed it first, or "".
        published: When its article was published, seconds since the epoch, or 0.
        parts: Whether its article continues on further pages.
    """

    at: float
    status: int = 200
    etag: str = ""
    last_modified: str = ""
    digest: str = ""
    relevance: float = 0.0
    hub: bool = False
    links: tuple[str, ...] = ()
    found_on: str = ""
    published: float = 0.0
    parts: bool = False


class Ledger:
    """Computes the states of one owner's pages. Pure except for what its policy learns.

    Args:
        owner: Name of the topic or template.
        policy: Schedules the visits.
        gone_seconds: Seconds between the two visits that find a page gone, at least.
        unhad_seconds: Seconds until the first retry of a hub that was never fetched.
    """

    def __init__(
        self,
        owner: str,
        policy: RevisitPolicy,
        gone_seconds: float = 600.0,
        unhad_seconds: float = 60.0,
    ) -> None:
        self.owner = owner
        self.policy = policy
        self.gone_seconds = gone_seconds
        self.unhad_seconds = unhad_seconds

    def first(self, url: str, seen: Seen) -> PageState | None:
        """Return the state of a page after its first visit; None if it is no hub nor article."""
        if not seen.hub and not seen.digest:
            return None
        role = Role.HUB if seen.hub else Role.DETAIL
        visits = Visits(url, role, seen.at, seen.at, published=seen.published)
        state = PageState(self.owner, url, role, seen.at, found_on=seen.found_on)
        return self._kept(_validated(state, seen), visits)

    def again(self, known: PageState, seen: Seen) -> PageState:
        """Return the state after a further visit with status 200 or 304."""
        changed = self.is_changed(known, seen)
        links = offered(known, seen.links) if known.more.get("links") else 0  # else: all it has
        observation = Observation(seen.at, changed, offered=links, status=seen.status)
        visits = self.policy.learn(_visits(known), observation)
        back = known.gone_at > 0
        state = replace(
            _validated(known, seen),
            changed_at=seen.at if changed or back else known.changed_at,
            gone_at=0.0,
            misses=0,
        )
        return self._kept(state, visits)

    def unhad(self, url: str, at: float, known: PageState | None = None) -> PageState:
        """Return the state of a hub, mostly a seed, that failed and was never fetched before.

        It is retried after ``unhad_seconds``, then twice that, up to ``MAX_FIRST_RETRY``. It
        is never gone, since it may never have existed.
        """
        state = known or PageState(self.owner, url, Role.HUB, at)
        visits = replace(_visits(state), visited_at=at, visits=0, misses=_visits(state).misses + 1)
        wait = min(self.unhad_seconds * 2.0 ** min(visits.misses - 1, 10), MAX_FIRST_RETRY)
        more = {**state.more, "visits": visits.to_dict()}
        return replace(state, checked_at=at, due=at + wait, more=more)

    def missed(self, known: PageState, at: float, status: int) -> PageState:
        """Return the state after a failed visit: 404 or 410, twice in a row, mean it is gone.

        A hub that is gone is still visited, as seldom as the policy visits hubs that fail: a page
        that gives 404 during ten minutes of maintenance may come back.
        """
        if not was_had(known):
            return self.unhad(known.url, at, known)
        visits = self.policy.learn(_visits(known), Observation(at, status=status))
        if status not in GONE:
            return self._kept(known, visits)
        misses = known.misses + 1
        gone_at = known.gone_at or (at if misses >= TWICE else 0.0)
        state = self._kept(replace(known, misses=misses, gone_at=gone_at, checked_at=at), visits)
        if gone_at:
            return state
        return replace(state, due=at + self.gone_seconds)

    def credit(self, url: str, known: PageState | None, seen: Seen) -> PageState | None:
        """Return the state of the page that showed an article first; it is a hub from now on.

        None if nothing is to be recorded: the page is an article, or the article was there before
        the first visit.
        """
        if known is None:
            return self.first(url, Seen(seen.at, hub=True))
        older = 0 < seen.published < known.first_seen
        first = known.more.get("visits", {}).get("visits", 1) == 1  # it shows existing articles
        if known.role is not Role.HUB or older or first:
            return None
        return self.credited(known, seen.at)

    def credited(self, known: PageState, at: float, gained: int = 1) -> PageState:
        """Return the state of a hub after new on-topic articles were found through it."""
        observation = Observation(at, gained=gained, visit=False)
        return self._kept(known, self.policy.learn(_visits(known), observation))

    def wholly(self, known: PageState, at: float, digest: str) -> PageState:
        """Return the state after all pages of an article were read; ``digest`` covers all of them.

        The article has changed if the digest differs and the first page, which was compared
        before, did not show it.
        """
        before = known.more.get("whole", digest)
        shown = known.changed_at >= _visits(known).visited_at
        changed_at = at if digest != before and not shown else known.changed_at
        return replace(known, changed_at=changed_at, more={**known.more, "whole": digest})

    def is_changed(self, known: PageState, seen: Seen) -> bool:
        """Return whether the text, or a hub's links, differ from the visit before."""
        if seen.status == NOT_MODIFIED:
            return False
        if known.role is Role.HUB:
            return bool(known.more.get("links")) and _packed(seen.links) != known.more["links"]
        return bool(known.digest and seen.digest) and known.digest != seen.digest

    def _kept(self, state: PageState, visits: Visits) -> PageState:
        due = self.policy.due(visits)
        over = math.isinf(due) or (state.gone_at > 0.0 and state.role is Role.DETAIL)
        due = 0.0 if over else max(due, visits.visited_at + SOONEST)
        return replace(state, due=due, more={**state.more, "visits": visits.to_dict()})


def was_had(state: PageState) -> bool:
    """Return whether a page was ever fetched; False if each visit failed."""
    return bool(state.more.get("visits", {}).get("visits", 1))


def offered(known: PageState, links: Iterable[str]) -> int:
    """Count the links of a hub that were not there at the visit before."""
    before = {one for (one,) in iter_unpack("<I", b64decode(known.more.get("links", "")))}
    return len(_hashes(links) - before)


def _validated(state: PageState, seen: Seen) -> PageState:
    """Return the state with the data of a response; 304 repeats only validators."""
    state = replace(
        state,
        checked_at=seen.at,
        etag=sendable(seen.etag) or (state.etag if seen.status == NOT_MODIFIED else ""),
        last_modified=sendable(seen.last_modified)
        or (state.last_modified if seen.status == NOT_MODIFIED else ""),
    )
    if seen.status == NOT_MODIFIED:
        return state
    more = {**state.more, "links": _packed(seen.links)} if state.role is Role.HUB else state.more
    if seen.parts or "parts" in more:
        more = {**more, "parts": seen.parts}
    return replace(state, digest=seen.digest or state.digest, relevance=seen.relevance, more=more)


def _visits(state: PageState) -> Visits:
    if "visits" in state.more:
        return Visits.from_dict(state.more["visits"])
    return Visits(state.url, state.role, state.first_seen, state.checked_at or state.first_seen)


def _hashes(links: Iterable[str]) -> set[int]:
    return {crc32(link.encode(errors="replace")) for link in links}


def _packed(links: Iterable[str]) -> str:
    hashes = sorted(_hashes(links))[:MOST_LINKS]
    return b64encode(pack(f"<{len(hashes)}I", *hashes)).decode()
