"""Computation of page states after visits: role, changes, whether gone, and the next visit.

At the start of a watch, the pages of an earlier crawl are adopted.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from dataclasses import dataclass, replace
from struct import iter_unpack, pack
from typing import TYPE_CHECKING, Any
from zlib import crc32

from topiccrawl.addons.watch.contract import Observation, RevisitPolicy, Visits
from topiccrawl.storage.pages import Pages, PageState, Role, sendable
from topiccrawl.storage.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topiccrawl.frontier.contract import Frontier
    from topiccrawl.storage.contract import ArticleStore

TOLERANCE = 5.0
"""Corrections of the clock up to this size are ignored, in seconds."""

GONE = frozenset((404, 410))
"""HTTP statuses of a page that is gone."""

NOT_MODIFIED = 304

GONE_VISITS = 2
"""Consecutive visits with such a status after which a page is gone [S1, methods §7]."""

MAX_LINKS = 2_000
"""Maximum number of stored links of a hub, 4 bytes each."""

MAX_FIRST_RETRY = 3_600.0
"""Maximum number of seconds between retries of a page that was never fetched."""

MIN_WAIT = 0.001
"""Minimum time between two visits of a page, in seconds, whatever the policy returns."""

BATCH = 500
"""Number of states written in one transaction."""


@dataclass(frozen=True, slots=True)
class VisitResult:
    """Result of a visit.

    Attributes:
        at: Time of the visit, seconds since the epoch.
        status: HTTP status; 0 if there was no response.
        etag: ETag of the response.
        last_modified: Last-Modified of the response.
        digest: MD5 of the main text of an article on topic; "" if there is none.
        relevance: Relevance of the page, in [0, 1].
        hub: Whether the page lists links.
        links: URLs of its links.
        found_on: URL of the page that linked to it first, or "".
        published: Publication time of its article, seconds since the epoch, or 0.
        parts: Whether its article continues on more pages.
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


class PageStates:
    """Computes the states of one owner's pages; its only own state is that of the policy.

    Args:
        owner: Name of the topic or template.
        policy: Schedules the visits.
        gone_seconds: Minimum time between the two visits that mark a page as gone, in seconds.
        unfetched_seconds: Seconds until the first retry of a hub that was never fetched.
    """

    def __init__(
        self,
        owner: str,
        policy: RevisitPolicy,
        gone_seconds: float = 600.0,
        unfetched_seconds: float = 60.0,
    ) -> None:
        self.owner = owner
        self.policy = policy
        self.gone_seconds = gone_seconds
        self.unfetched_seconds = unfetched_seconds

    def first_visit(self, url: str, seen: VisitResult) -> PageState | None:
        """Return the state after the first visit; None if the page is neither hub nor article."""
        if not seen.hub and not seen.digest:
            return None
        role = Role.HUB if seen.hub else Role.DETAIL
        visits = Visits(url, role, seen.at, seen.at, published=seen.published)
        state = PageState(self.owner, url, role, seen.at, found_on=seen.found_on)
        return self._scheduled(_with_response(state, seen), visits)

    def revisit(self, known: PageState, seen: VisitResult) -> PageState:
        """Return the state after another visit with status 200 or 304."""
        changed = self.is_changed(known, seen)
        links = offered(known, seen.links) if known.more.get("links") else 0
        observation = Observation(seen.at, changed, offered=links, status=seen.status)
        visits = self.policy.learn(visits_of(known), observation)
        returned = known.gone_at > 0
        state = replace(
            _with_response(known, seen),
            changed_at=seen.at if changed or returned else known.changed_at,
            gone_at=0.0,
            misses=0,
        )
        return self._scheduled(state, visits)

    def unfetched(self, url: str, at: float, known: PageState | None = None) -> PageState:
        """Return the state of a hub, usually a seed, that failed and was never fetched before.

        It is retried after ``unfetched_seconds``, which doubles with each failure up to
        ``MAX_FIRST_RETRY``. It is never marked as gone, since it may never have existed.
        """
        state = known or PageState(self.owner, url, Role.HUB, at)
        before = visits_of(state)
        visits = replace(before, visited_at=at, visits=0, misses=before.misses + 1)
        due = at + retry_wait(self.unfetched_seconds, before.misses)
        return with_visits(state, visits, checked_at=at, due=due)

    def failed_visit(self, known: PageState, at: float, status: int) -> PageState:
        """Return the state after a failed visit; two consecutive 404 or 410 mark a page as gone.

        A hub that is gone is still visited, as rarely as the policy visits failing hubs, since a
        page that returned 404 during maintenance may come back.
        """
        if not was_fetched(known):
            return self.unfetched(known.url, at, known)
        visits = self.policy.learn(visits_of(known), Observation(at, status=status))
        if status not in GONE:
            return self._scheduled(known, visits)
        misses = known.misses + 1
        gone_at = known.gone_at or (at if misses >= GONE_VISITS else 0.0)
        state = replace(known, misses=misses, gone_at=gone_at, checked_at=at)
        state = self._scheduled(state, visits)
        return state if gone_at else replace(state, due=at + self.gone_seconds)

    def credit(self, url: str, known: PageState | None, seen: VisitResult) -> PageState | None:
        """Return the state of the page that linked to an article first, which becomes a hub.

        Returns:
            The new state, or None if the page is an article itself, or the article is older than
            the first visit of the page.
        """
        if known is None:
            return self.first_visit(url, VisitResult(seen.at, hub=True))
        older = 0 < seen.published < known.first_seen
        first = visits_of(known).visits == 1  # it shows existing articles
        if known.role is not Role.HUB or older or first:
            return None
        observation = Observation(seen.at, gained=1, visit=False)
        return self._scheduled(known, self.policy.learn(visits_of(known), observation))

    def whole_article(self, known: PageState, at: float, digest: str) -> PageState:
        """Return the state after all pages of an article were read; ``digest`` covers all pages.

        The article has changed if the digest differs. A change that the first page has shown
        already is not counted again.
        """
        before = known.more.get("whole", digest)
        shown = known.changed_at >= visits_of(known).visited_at
        changed_at = at if digest != before and not shown else known.changed_at
        return replace(known, changed_at=changed_at, more={**known.more, "whole": digest})

    def is_changed(self, known: PageState, seen: VisitResult) -> bool:
        """Return whether the text, or the links of a hub, differ from the previous visit."""
        if seen.status == NOT_MODIFIED:
            return False
        if known.role is Role.HUB:
            return bool(known.more.get("links")) and _pack_links(seen.links) != known.more["links"]
        return bool(known.digest and seen.digest) and known.digest != seen.digest

    def _scheduled(self, state: PageState, visits: Visits) -> PageState:
        due = self.policy.due(visits)
        over = math.isinf(due) or (state.gone_at > 0.0 and state.role is Role.DETAIL)
        due = 0.0 if over else max(due, visits.visited_at + MIN_WAIT)
        return with_visits(state, visits, due=due)


def retry_wait(first: float, failures: int) -> float:
    """Return seconds until a retry: ``first``, doubled with each earlier failure, within limits."""
    return min(first * 2.0 ** min(failures, 10), MAX_FIRST_RETRY)


def was_fetched(state: PageState) -> bool:
    """Return whether a page was ever fetched; False if each visit failed."""
    return visits_of(state).visits > 0


def set_back(state: PageState, now: float) -> PageState:
    """Shift the times of a page visited "in the future": visited now, due after the same wait.

    Other states are returned unchanged. The function is idempotent.

    >>> state = set_back(PageState("足球", "http://a.test/", checked_at=9000.0, due=9060.0), 1000.0)
    >>> state.checked_at, state.due
    (1000.0, 1060.0)
    """
    visits = visits_of(state)
    ahead = visits.visited_at - now
    if ahead <= TOLERANCE:
        return state
    due = state.due and now + max(0.0, state.due - visits.visited_at)
    # the age stays the same
    visits = replace(visits, visited_at=now, first_seen=visits.first_seen - ahead)
    return with_visits(state, visits, checked_at=min(state.checked_at, now), due=due)


def offered(known: PageState, links: Iterable[str]) -> int:
    """Count the links of a hub that were not there at the previous visit, of those it stores."""
    before = {one for (one,) in iter_unpack("<I", b64decode(known.more.get("links", "")))}
    last = max(before) if len(before) >= MAX_LINKS else 2**32
    return sum(one <= last for one in {*_stored_hashes(links)} - before)


def _with_response(state: PageState, seen: VisitResult) -> PageState:
    """Return the state with the data of a response; a 304 has only validators."""
    known = state if seen.status == NOT_MODIFIED else PageState("", "")
    state = replace(
        state,
        checked_at=seen.at,
        etag=sendable(seen.etag) or known.etag,
        last_modified=sendable(seen.last_modified) or known.last_modified,
    )
    if seen.status == NOT_MODIFIED:
        return state
    more = dict(state.more)
    if state.role is Role.HUB:
        more["links"] = _pack_links(seen.links)
    if seen.parts or "parts" in more:
        more["parts"] = seen.parts
    return replace(state, digest=seen.digest or state.digest, relevance=seen.relevance, more=more)


def visits_of(state: PageState) -> Visits:
    """Return the record of a page's visits."""
    if "visits" in state.more:
        return Visits.from_dict(state.more["visits"])
    return Visits(state.url, state.role, state.first_seen, state.checked_at or state.first_seen)


def with_visits(state: PageState, visits: Visits, **changes: Any) -> PageState:  # noqa: ANN401  (fields)
    """Return the state with another record of visits, and other changed times."""
    return replace(state, more={**state.more, "visits": visits.to_dict()}, **changes)


def _stored_hashes(links: Iterable[str]) -> list[int]:
    return sorted({crc32(link.encode(errors="replace")) for link in links})[:MAX_LINKS]


def _pack_links(links: Iterable[str]) -> str:
    hashes = _stored_hashes(links)
    return b64encode(pack(f"<{len(hashes)}I", *hashes)).decode()


async def adopt(
    frontier: Frontier, store: ArticleStore, ledger: PageStates, pages: Pages, now: float
) -> None:
    """Create states for the owner's stored articles and the hubs that linked to them.

    The texts of the articles are compared from the second visit on. Existing states are kept. Hubs
    are written last: after a kill, the next run finds no hubs and adopts again.

    Args:
        frontier: Frontier of the crawl; articles that it does not have are skipped.
        store: Store of the articles.
        ledger: Computes the states of the owner's pages.
        pages: Open store of the states.
        now: Current time, seconds since the epoch.

    Raises:
        StorageError: If an article or state cannot be read or written.
    """
    hubs: dict[str, PageState] = {}
    batch: list[PageState] = []
    async for article in store.select(Selection(ledger.owner)):
        state = ledger.first_visit(article.url, VisitResult(article.fetched_at, digest="unknown"))
        if state is None or frontier.why(article.url) is None:
            continue
        batch.append(replace(state, digest=""))
        hub = parent_of(frontier, article.url)
        if hub and hub not in hubs and (first := ledger.credit(hub, None, VisitResult(now))):
            hubs[hub] = first
        if len(batch) >= BATCH:
            await _save(pages, ledger.owner, batch)
            batch = []
    await _save(pages, ledger.owner, [*batch, *hubs.values()])


async def recall_hubs(ledger: PageStates, pages: Pages) -> None:
    """Call the policy for all fetched hubs of earlier runs, as they share the budget of visits.

    Raises:
        StorageError: If states cannot be read.
    """
    async for hubs in pages.hubs(ledger.owner, BATCH):
        for hub in filter(was_fetched, hubs):
            ledger.policy.due(visits_of(hub))


def parent_of(frontier: Frontier, url: str) -> str:
    """Return the URL of the page that linked to a URL first, or ""."""
    known = frontier.why(url)
    return known.path[-2] if known is not None and len(known.path) > 1 else ""


async def _save(pages: Pages, owner: str, states: list[PageState]) -> None:
    known = await pages.get(owner, [state.url for state in states])
    await pages.save([state for state in states if state.url not in known])
