"""Review of a crawl: data that explains why it found few or no pages on topic."""

from __future__ import annotations

from contextlib import closing, suppress
from heapq import heappush, heappushpop
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import NotConfigured

from topiccrawl.errors import StateError, StorageError
from topiccrawl.model import LINKS, Kind, Lease, Page, Verdict
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.frontiers import frontier_place, read_frontier
from topiccrawl.scheduler.review import SEEDS, seed_outcomes, unreachable_hosts
from topiccrawl.scheduler.signals import page_judged

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from topiccrawl.storage.runs import State

_FINAL = ("crawled", "error")
"""Queues of URLs whose outcome changes only if they are leased again."""
BEST = 5
"""Number of best pages in the review."""
BARE = 3
"""Number of bare pages in the review."""
_LITTLE_TEXT = 200
"""Number of characters below which a page without links counts as bare."""


class CrawlReview:
    """Collect the best pages, the terms found and the seeds of a crawl.

    The section ``review`` of the state of the crawl has ``threshold`` (minimum relevance of a page
    on topic), ``best`` (relevance, URL, title), ``met`` (term to number of pages), ``never`` (terms
    not found), ``bare`` (URL, and whether it is a feed, of pages without links and almost without
    text), ``seeds`` (url, queue, reason, relevance) and ``hosts`` (cause to hosts; only after the
    end of the crawl).

    Args:
        crawler: Crawler of a topic.

    Raises:
        NotConfigured: If the spider has no topic, or does not score pages.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.context = context_of(crawler)
        spec = self.context.spec
        if spec.judges is None or (topic := spec.topic) is None:
            raise NotConfigured
        self._best: list[tuple[float, str, str]] = []
        self._met: dict[str, int] = {}
        self._bare: dict[str, bool] = {}
        # with the outcome, once it is final
        self._seeds: dict[str, State | None] = dict.fromkeys(topic.seeds)
        self._last: State = {}
        self._own = topic.folded

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension, connected to the signals of its crawler."""
        review = cls(crawler)
        crawler.signals.connect(review.judged, page_judged)
        review.context.on_settled(review.settled)
        review.context.status["review"] = review.status
        return review

    def judged(self, page: Page, verdict: Verdict) -> None:
        """Record a page if it is one of the best or bare, and count its terms."""
        entry = (round(verdict.relevance, 4), page.url, page.title[:200])
        if not any(url == page.url for _, url, _ in self._best):
            (heappush if len(self._best) < BEST else heappushpop)(self._best, entry)
        if not page.links and len(page.text) < _LITTLE_TEXT and len(self._bare) < BARE:
            self._bare[page.url] = page.feed
        for term, _ in verdict.terms:
            if term in self._own or not (self._own or term == LINKS):
                self._met[term] = self._met.get(term, 0) + 1

    def settled(self, lease: Lease) -> None:
        """Record a URL that is not a link; the first ``SEEDS`` such URLs are the seeds."""
        is_page = not lease.depth and lease.kind is Kind.PAGE
        if is_page and (len(self._seeds) < SEEDS or lease.url in self._seeds):
            self._seeds[lease.url] = None

    def status(self) -> State:
        """Return the section ``review``."""
        scorer: Any = getattr(self.crawler.spider, "scorer", None)
        review = {
            "threshold": round(0.0 if scorer is None else scorer.lower_limit, 4),
            "best": sorted(self._best, reverse=True),
            "met": dict(self._met),
            "never": sorted(self._own - self._met.keys()),
            "bare": [[url, feed] for url, feed in self._bare.items()],
            "seeds": [],
            "hosts": {},
        }
        with suppress(StateError, StorageError):  # the frontier was deleted, or cannot be read
            review |= self._fates()
        return {"review": review}

    def _fates(self) -> State:
        if self.context.opened:
            outcomes = dict(islice(self._seeds.items(), SEEDS))
            asked = [url for url, outcome in outcomes.items() if outcome is None]
            for outcome in seed_outcomes(self.context.frontier.why, asked):
                outcomes[outcome["url"]] = outcome
                if outcome["queue"] in _FINAL:
                    self._seeds[outcome["url"]] = outcome
            return {"seeds": list(outcomes.values())}
        if not self._last:
            place, settings = frontier_place(self.crawler), self.crawler.settings
            with closing(read_frontier(place, settings)) as frontier:
                seeds, hosts = seed_outcomes(frontier.why, self._seeds), unreachable_hosts(frontier)
                self._last = {"seeds": seeds, "hosts": hosts}
        return self._last
