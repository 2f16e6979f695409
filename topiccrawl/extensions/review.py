"""Review of a crawl: why little or nothing came of it, and what to try."""

from __future__ import annotations

from contextlib import closing, suppress
from heapq import heappush, heappushpop
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import NotConfigured

from topiccrawl.errors import StateError, StorageError
from topiccrawl.frontier.contract import Kind
from topiccrawl.links.urls import canonical, host_of
from topiccrawl.scheduler.build import frontier_place, read_frontier
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.signals import page_judged
from topiccrawl.text.messages import tr
from topiccrawl.text.normal import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scrapy.crawler import Crawler

    from topiccrawl.frontier.contract import Explanation, Lease, Outcome
    from topiccrawl.frontier.portable import Reader
    from topiccrawl.model import Page, Verdict
    from topiccrawl.storage.status import State

BEST = 5
"""Best pages that are named."""
SEEDS = 30
"""Seeds that are named."""
HOSTS = 6
"""Hosts out of reach that are named for each cause."""
TERMS = 12
"""Terms that are named."""
ERRORS = 20_000
"""Records of the errorQueue that are read for hosts out of reach."""
UNREACHED = (
    "cannot-resolve-host", "tls-failed", "download-connection-refused", "download-timeout",
    "download-failed", "http-401", "http-403", "http-429", "http-451", "robots",
    "robots-unavailable",
)  # fmt: skip
"""Reasons of errors by which a host counts as out of reach."""


class CrawlReview:
    """Remembers the best pages, the terms that were met, and the seeds.

    Its section ``review`` of the crawl's state has ``threshold`` (relevance from which a page is on
    topic), ``best`` (relevance, URL, title), ``met`` (term to number of pages), ``never`` (terms),
    ``seeds`` (url, queue, reason, relevance) and ``hosts`` (cause to hosts, once it has ended).

    Args:
        crawler: Crawler of a topic.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.context = context_of(crawler)
        self._best: list[tuple[float, str, str]] = []
        self._met: dict[str, int] = {}
        self._seeds: dict[str, None] = {}
        self._last: State = {}
        topic = self.context.spec.topic
        self._own = frozenset(map(fold, topic.terms)) if topic else frozenset()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If the spider judges no pages.
        """
        spec = context_of(crawler).spec
        if spec.judges is None or spec.topic is None:
            raise NotConfigured
        review = cls(crawler)
        for url in spec.topic.seeds:
            review._seeds[canonical(url) or url] = None
        crawler.signals.connect(review.judged, page_judged)
        review.context.on_settled(review.settled)
        review.context.status["review"] = review.status
        return review

    def judged(self, page: Page, verdict: Verdict) -> None:
        """Remember a page if it is one of the best, and its terms."""
        one = (round(verdict.relevance, 4), page.url, page.title[:200])
        if not any(url == page.url for _, url, _ in self._best):
            (heappush if len(self._best) < BEST else heappushpop)(self._best, one)
        for term, _ in verdict.terms:
            if term in self._own or not self._own:
                self._met[term] = self._met.get(term, 0) + 1

    def settled(self, lease: Lease, outcome: Outcome) -> None:  # noqa: ARG002 - by name
        """Remember a URL that was no link: the first ones are the crawl's seeds."""
        if not lease.depth and lease.kind is Kind.PAGE and len(self._seeds) < SEEDS:
            self._seeds[lease.url] = None

    def status(self) -> State:
        """Return the section ``review``."""
        scorer: Any = getattr(self.crawler.spider, "scorer", None)
        review = {
            "threshold": round(0.0 if scorer is None else scorer.lower_limit, 4),
            "best": sorted(self._best, reverse=True),
            "met": dict(self._met),
            "never": sorted(self._own - self._met.keys()),
            "seeds": [],
            "hosts": {},
        }
        with suppress(StateError, StorageError):  # it was deleted, or cannot be read now
            review |= self._fates()
        return {"review": review}

    def _fates(self) -> State:
        if self.context.opened:
            return {"seeds": fates(self.context.frontier.why, self._seeds)}
        if not self._last:
            settings, spider = self.crawler.settings, self.crawler.spider
            with closing(read_frontier(frontier_place(settings, spider), settings)) as frontier:
                seeds, hosts = fates(frontier.why, self._seeds), out_of_reach(frontier)
                self._last = {"seeds": seeds, "hosts": hosts}
        return self._last


def fates(why: Callable[[str], Explanation | None], urls: Iterable[str]) -> list[dict[str, Any]]:
    """Return what became of seeds: queue, reason and relevance of each."""
    found = []
    for url in islice(urls, SEEDS):
        one = why(url)
        fate = {"queue": "", "reason": "", "relevance": None}
        if one is not None:
            fate = {"queue": one.queue, "reason": one.reason, "relevance": one.relevance}
        found.append({"url": url, **fate})
    return found


def out_of_reach(frontier: Reader) -> dict[str, list[str]]:
    """Return hosts of which pages failed for a reason of ``UNREACHED``, by reason."""
    hosts: dict[str, dict[str, None]] = {}
    if any(frontier.counts().get(f"error/{reason}") for reason in UNREACHED):
        for url, _, reason in islice(frontier.iterate("error"), ERRORS):
            if reason in UNREACHED:
                hosts.setdefault(reason, {})[host_of(url)] = None
    return {reason: list(names)[:HOSTS] for reason, names in hosts.items()}


def explained(review: Mapping[str, Any]) -> list[str]:
    """Return the lines that explain what a crawl met, and what to try."""
    if not review:
        return []
    lines = [_seed_line(seed) for seed in review["seeds"]]
    if review["best"]:
        limit = f"{review['threshold']:.3f}"
        lines.append(tr("  best pages (on topic from {limit}):", limit=limit))
        lines += [f"    {score:.3f}  {url}  {title}" for score, url, title in review["best"]]
    if review["met"]:
        met = sorted(review["met"].items(), key=lambda one: -one[1])
        named = ", ".join(tr("{term} on {pages} pages", term=t, pages=n) for t, n in met[:TERMS])
        lines.append(tr("  terms met: {terms}", terms=named))
    if review["never"]:
        lines.append(tr("  terms never met: {terms}", terms=", ".join(review["never"][:TERMS])))
    for reason, hosts in review["hosts"].items():
        named = ", ".join(hosts)
        lines.append(tr("  out of reach ({cause}): {hosts}", cause=cause(reason), hosts=named))
    return [*lines, *(tr("  try        {advice}", advice=one) for one in advice(review))]


def _seed_line(seed: Mapping[str, Any]) -> str:
    queue, reason = seed["queue"], seed["reason"]
    if queue == "error":
        fate = cause(reason)
    elif seed["relevance"] is not None:
        fate = tr("fetched, relevance {score}", score=f"{seed['relevance']:.3f}")
    elif queue in {"prior", "normal", "leased"}:
        fate = tr("not fetched yet")
    else:
        fate = tr("fetched") if queue else tr("not recorded")
    return tr("  seed       {url}: {fate}", url=seed["url"], fate=fate)


def cause(reason: str) -> str:
    """Return the reason of an error in words.

    >>> cause("cannot-resolve-host"), cause("http-404")
    ('its name has no address (DNS)', 'http-404')
    """
    causes = {
        "cannot-resolve-host": tr("its name has no address (DNS)"),
        "tls-failed": tr("no encrypted connection (TLS)"),
        "download-connection-refused": tr("the connection is refused"),
        "download-timeout": tr("no answer in time"),
        "download-failed": tr("the connection broke"),
        "http-401": tr("a login is required (401)"),
        "http-403": tr("the server refuses this crawler (403)"),
        "http-429": tr("the server wants fewer requests (429)"),
        "robots": tr("its robots.txt excludes the page"),
        "robots-unavailable": tr("its robots.txt cannot be read (5xx)"),
    }
    return causes.get(reason, reason)


def advice(review: Mapping[str, Any]) -> list[str]:
    """Return what to try after a crawl that found nothing."""
    tips = []
    failed = [one for one in review["seeds"] if one["queue"] == "error"]
    if failed and len(failed) == len(review["seeds"]):
        tips.append(tr("other seeds: none of these could be fetched"))
    if review["best"]:
        tips += _advice_on_pages(review)
    if set(review["hosts"]) & {"cannot-resolve-host", "download-timeout", "tls-failed"}:
        tips.append(tr("`scrapy doctor`, which examines network and proxy"))
    return tips


def _advice_on_pages(review: Mapping[str, Any]) -> list[str]:
    if not review["met"]:
        return [tr("seeds that speak of the topic, or discover=searxng:URL: no term was met")]
    if max(one[0] for one in review["best"]) >= review["threshold"]:
        return [tr("more pages, or seeds nearer to articles: the best pages lead to none")]
    tips = [tr("a lower thresholds.lower_limit in the topic file, if the best pages are wanted")]
    if review["never"]:
        tips.append(tr("synonyms of the terms never met, in the pages' language (a topic file)"))
    return tips
