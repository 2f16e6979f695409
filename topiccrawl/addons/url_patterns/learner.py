"""Learners of all sites, within bounded memory, with a log of dropped links.

The learner also finds query parameters without effect. ``?from=list`` and ``?id=7`` look similar;
the difference shows when a page was fetched with and without the parameter, or with several values.
A parameter is removed from a site's links if the page was always the same, never another page or an
error page. Known session ids and tracking parameters are removed earlier (``links/urls.py``).
"""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import xxhash

from topiccrawl.addons.url_patterns.pattern import Label, Pattern
from topiccrawl.addons.url_patterns.site import Judgement, SiteLearner
from topiccrawl.addons.url_patterns.tally import Outcome
from topiccrawl.links.newsurls import is_non_news
from topiccrawl.links.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

KEY = "url-patterns"
"""Key of a site's learner in the site's stored knowledge."""

DROPS_KEY = "url-drops"
"""Key of a site's log of dropped links."""

PARAMETERS_KEY = "url-parameters"
"""Key of the effects of a site's parameters."""

MOST_SITES = 2_000
"""Maximum number of sites in memory; a site takes up to 200 kB, most far less."""

MOST_LINKS = 20_000
"""Maximum number of cached judgements of links, since menus are the same on every page."""

MOST_REASONS = 100
"""Maximum number of entries in a site's log of dropped links."""

PROBE_EVERY = 50
"""Every 50th refused URL (by hash) is fetched as a probe, to detect changes of a site."""

MIN_SAME_PAGES = 3
"""Number of equal pages, without a different one, before a parameter is removed."""

MOST_PAGES = 5_000
"""Maximum number of page digests per site, about 150 bytes each; the counts are kept."""

MOST_NAMES = 100
"""Maximum number of counted parameters per site."""


class PatternLearner:
    """Judges links and learns from pages; does no I/O and reads no clock.

    A site that was not loaded with ``load`` starts empty. Probes are chosen by the hash of a URL,
    so that they are the same for all linking pages and after a restart.

    Args:
        sites: Maximum number of sites in memory; ``excess_sites`` returns those to store and drop.
        probe_every: Share 1/n of refused URLs that are fetched as probes; 0: none.

    Attributes:
        sites: Sites in memory, the most recently used last.
        changed: Names of the sites with values to store.
    """

    def __init__(self, sites: int = MOST_SITES, probe_every: int = PROBE_EVERY) -> None:
        self.most_sites = sites
        self.probe_every = probe_every
        self.changed: set[str] = set()
        self.sites: OrderedDict[str, LearnedSite] = OrderedDict()
        self.judge = lru_cache(MOST_LINKS)(self._judge)
        self._is_news = lru_cache(MOST_LINKS)(lambda url: self.site(url).is_news(url))

    def unknown(self, urls: Iterable[str]) -> set[str]:
        """Return the sites of these URLs that are not in memory."""
        return {site_of(url) for url in urls} - self.sites.keys()

    def load(self, site: str, known: Mapping[str, Any]) -> None:
        """Load the stored values of a site; {} for a new site."""
        self.sites[site] = LearnedSite.from_json(known)

    def site(self, url: str) -> SiteLearner:
        """Return the learner of a URL's site."""
        return self._of(url).learner

    def _of(self, url: str) -> LearnedSite:
        name = site_of(url)
        if name not in self.sites:
            self.load(name, {})
        self.sites.move_to_end(name)
        return self.sites[name]

    def _judge(self, url: str) -> Judgement:
        """Return the expected kind of a link, and count the link."""
        site = self.site(url)
        site.count_link(url)
        return site.judge(url)

    def refuse(self, url: str) -> str | None:
        """Return why a link must not be fetched, or None (also for probes); log the refusal.

        Reasons: ``not-news`` (by a pattern), ``no-pattern`` (no pattern of a known site matches).
        """
        found = self.judge(url)
        if found.label is not Label.OTHER or self._is_probe(url):
            return None
        reason = "no-pattern" if found.reason == "no-pattern" else "not-news"
        log = self._of(url).drops
        what = found.what if found.what in log or len(log) < MOST_REASONS else "(others)"
        log.setdefault(what, [0, url, reason])[0] += 1
        self.changed.add(site_of(url))
        return reason

    def stripped(self, url: str) -> str:
        """Return a link without the parameters that have no effect on its site."""
        known = self.sites.get(site_of(url)) if "?" in url else None
        return url if known is None else known.parameters.stripped(url)

    def read(self, url: str, text: str) -> None:
        """Record the text of a page ("" for an error), to learn the effects of its parameters."""
        self._of(url).parameters.observe(url, text)

    def articles_among(self, urls: Iterable[str]) -> int:
        """Return the number of links that look like articles."""
        return sum(map(self._is_news, urls))

    def observe(self, url: str, *, article: bool, links: int, topical: bool = False) -> bool:
        """Count the outcome of a fetched page; see ``SiteLearner.outcome``.

        Returns:
            Whether to rebuild the patterns of the site: call ``learnt_patterns`` (in a thread) with
            copied tallies, and ``apply`` with the result.
        """
        site = self.site(url)
        outcome = site.outcome(article=article, links=links, topical=topical)
        if topical and is_non_news(url):
            outcome = Outcome.TOPICAL
        self.changed.add(site_of(url))
        return site.count(url, outcome)

    def apply(self, url: str, patterns: Iterable[Pattern]) -> None:
        """Apply the patterns of ``learnt_patterns`` to the learner of the URL's site."""
        self.site(url).apply(patterns)
        self.judge.cache_clear()
        self._is_news.cache_clear()
        self.changed.add(site_of(url))

    def stored(self, site: str) -> dict[str, Any]:
        """Return the values to store for a site, by key."""
        learner, drops, parameters = self.sites[site]
        return {KEY: learner.to_json(), DROPS_KEY: drops, PARAMETERS_KEY: parameters.counts}

    def excess_sites(self) -> list[str]:
        """Return the least recently used sites beyond the limit; store them, then ``drop`` them."""
        return list(self.sites)[: max(0, len(self.sites) - self.most_sites)]

    def drop(self, site: str) -> None:
        """Remove a stored site from memory."""
        self.sites.pop(site, None)
        self.changed.discard(site)

    def _is_probe(self, url: str) -> bool:
        return (
            bool(self.probe_every) and xxhash.xxh64_intdigest(url.encode()) % self.probe_every == 0
        )


class Parameters:
    """Effects of the query parameters of a site.

    Args:
        counts: Numbers of equal and of other pages by parameter, stored by an earlier run.

    >>> site = Parameters()
    >>> for n in range(3):
    ...     site.observe(f"http://a.test/{n}.html", f"text {n}")
    ...     site.observe(f"http://a.test/{n}.html?from=list", f"text {n}")
    >>> site.stripped("http://a.test/9.html?from=top&p=2")
    'http://a.test/9.html?p=2'
    """

    def __init__(self, counts: Mapping[str, Sequence[int]] | None = None) -> None:
        self.counts = {name: list(numbers) for name, numbers in (counts or {}).items()}
        self._pages: dict[int, int] = {}

    def observe(self, url: str, text: str) -> None:
        """Record the text of a page, or a digest of it; "" for an error."""
        page = _hash(text)
        for name, without in _without(url):
            key = _hash(without)
            known = self._pages.get(key)
            if known is None:
                self._pages[key] = page
            elif text or known != page:  # two errors are no evidence
                self._count(name, same=known == page)
        self._pages[_hash(url)] = page
        if len(self._pages) > MOST_PAGES:
            self._pages.clear()

    def stripped(self, url: str) -> str:
        """Return the URL without parameters that have no effect."""
        if "?" not in url or not self.counts:
            return url
        base, _, query = url.partition("?")
        kept = [part for part in query.split("&") if not self.is_irrelevant(part.partition("=")[0])]
        return f"{base}?{'&'.join(kept)}" if kept else base

    def is_irrelevant(self, name: str) -> bool:
        """Return whether a parameter has no effect."""
        same, other = self.counts.get(name, (0, 0))
        return same >= MIN_SAME_PAGES and not other

    def _count(self, name: str, *, same: bool) -> None:
        if name in self.counts or len(self.counts) < MOST_NAMES:
            self.counts.setdefault(name, [0, 0])[not same] += 1


class LearnedSite(NamedTuple):
    """Learned values of a site.

    Attributes:
        learner: Learner of its URL patterns.
        drops: Log of dropped links: number, example and reason, by pattern or format.
        parameters: Effects of its query parameters.
    """

    learner: SiteLearner
    drops: dict[str, list[Any]]
    parameters: Parameters

    @classmethod
    def from_json(cls, known: Mapping[str, Any]) -> Self:
        """Return the site for its stored values, by key."""
        drops = {what: list(entry) for what, entry in known.get(DROPS_KEY, {}).items()}
        parameters = Parameters(known.get(PARAMETERS_KEY, {}))
        return cls(SiteLearner.from_json(known.get(KEY, {})), drops, parameters)


def _without(url: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each parameter, and the URL without it."""
    base, _, query = url.partition("?")
    parts = query.split("&") if query else []
    for place, part in enumerate(parts):
        rest = "&".join(parts[:place] + parts[place + 1 :])
        yield part.partition("=")[0], f"{base}?{rest}" if rest else base


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "replace"))
