"""Learner of a site's URLs: counts pages by URL format, builds patterns, judges links."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.addons.url_patterns.pattern import Label, Pattern, PatternSet, expression, year_span
from topiccrawl.addons.url_patterns.tally import (
    NEWS_SHARE,
    TOPICAL_SHARE,
    Outcome,
    Tally,
    change_points,
    clusters,
    expected,
    pooled,
)
from topiccrawl.links.newsurls import is_hub_like, is_non_news, is_user_content, news_likelihood
from topiccrawl.links.skeletons import Skeleton, skeleton, year_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_FORMATS = 300
"""Maximum number of formats per site; those with the fewest links and pages are evicted first."""

READY_PAGES, READY_ARTICLES = 15, 5
"""Number of judged pages, and of articles among them, before links of a site are dropped."""

NEWSLIKE_SHARE = 0.5
"""Share of a site's articles whose URLs must look like news before links are dropped. Encyclopedias
and manuals, which name pages by words, are thus not filtered by the look of URLs."""

CHECK_FIRST, CHECK_EVERY = 8, 16
"""Pages of a format without an article that are examined: the first ones, then every 16th."""

MAX_UNREADY_PAGES = 60
"""Number of judged pages of a site that is still not ready, after which few pages are examined."""

OTHER_SHARE = 0.1
"""Expected share of articles below which the URLs of a pattern are not fetched."""

HUB_SHARE = 0.3
"""Minimum share of hubs among the judged pages of a hub pattern."""

NEARLY_ALL = 0.8
"""Share of articles among a site's pages from which unknown formats are fetched regardless of their
look, since filtering would save little."""

MIN_LIKELIHOOD = 0.35
"""Minimum likelihood, by its look, at which a URL that matches no pattern is fetched."""

HIGH_LIKELIHOOD = 0.85
"""Minimum likelihood, by its look, at which a URL that matches no pattern is expected to be an
article, if the look was reliable for the site."""

OLD_YEARS = 10
"""Age in years, relative to a site's newest article, from which URLs of a period without a fetched
page are not expected to be articles: old archives are often moved, shortened or reformatted."""

DATED_ARTICLES = 10
"""Number of articles, all with a date in the URL, after which URLs without a date are not news."""

FIRST_OF_FORMAT = 2
"""Number of links of an unknown format that are fetched, to learn the format."""

RELEARN = (15, 1.5)
"""Patterns are rebuilt after this many more judged pages, and this factor of the page count."""

FEWEST_HUB_LINKS, HUB_FACTOR = 10, 1.5
"""Article links of a hub: minimum number, and factor of the mean number on the site's articles."""

_FIRST_YEAR, _LAST_YEAR = 1980, 2049
_KEPT_SHARE = 0.8


class Judgement(NamedTuple):
    """Expected kind of a link.

    Attributes:
        label: NEWS, HUB, OTHER, or OPEN if there is no evidence.
        reason: ``by-hand``, ``pattern``, ``no-pattern``, ``look``, ``on-topic`` or ``learning``.
        what: The expression or format on which the judgement is based.
    """

    label: Label
    reason: str
    what: str = ""


class SiteLearner:
    """Learns the URL patterns of one site; deterministic for the same sequence of pages."""

    def __init__(self) -> None:
        self.tallies: dict[str, Tally] = {}
        self.patterns = PatternSet()
        self.pages = 0
        self.articles = 0
        self._newslike = 0  # articles that look like news by their URL
        self._unready_pages = 0
        self._relearn_at = RELEARN[0]
        self._article_links = 0.0
        self._allowed: dict[str, int] = {}
        self._paths: dict[tuple[object, object], str] = {}  # host by path format of articles
        self._years = 0, 0  # oldest year of a page, newest year of an article
        self._look_reliable = True
        self._all_dated = False

    @property
    def ready(self) -> bool:
        """Return whether there are enough judged pages and articles to drop links."""
        enough = self.pages >= READY_PAGES and self.articles >= READY_ARTICLES
        return enough and self._newslike >= NEWSLIKE_SHARE * self.articles

    def count_link(self, url: str) -> None:
        """Count a found link."""
        self._tally(url, skeleton(url)).seen += 1

    def observe(self, url: str, outcome: Outcome) -> None:
        """Count a page, and rebuild the patterns when due."""
        if self.count(url, outcome):
            self.learn()

    def count(self, url: str, outcome: Outcome) -> bool:
        """Count a page; return whether the patterns are due to be rebuilt (True only once)."""
        shape = skeleton(url)
        talk = outcome is Outcome.TOPICAL and is_user_content(url)
        counted = Outcome.OTHER if is_non_news(url) and not talk else outcome
        self._tally(url, shape).add(counted, year_of(url, shape))
        self.pages += 1
        self.articles += counted is Outcome.ARTICLE
        self._newslike += counted is Outcome.ARTICLE and news_likelihood(url) >= NEWS_SHARE
        if self.pages < self._relearn_at or not self.ready:
            return False
        self._schedule_learning()
        return True

    def copied_tallies(self) -> dict[str, Tally]:
        """Return a copy of the tallies, for ``learnt_patterns`` in another thread."""
        return {key: tally.copy() for key, tally in self.tallies.items()}

    def apply(self, learnt: Iterable[Pattern]) -> None:
        """Replace the learnt patterns; manual patterns are kept."""
        self.patterns = PatternSet((*self.patterns.by_hand, *learnt))
        self._allowed.clear()
        self._index()

    def outcome(self, *, article: bool, links: int, topical: bool = False) -> Outcome:
        """Return the outcome of a page.

        Args:
            article: Whether an article was extracted.
            links: Number of its links that look like articles.
            topical: Whether the page is on the crawl's topic.
        """
        if article:
            rate = 1 / min(self.articles + 1, 50)
            self._article_links += rate * (links - self._article_links)
            return Outcome.ARTICLE
        if links >= max(FEWEST_HUB_LINKS, HUB_FACTOR * self._article_links):
            return Outcome.HUB
        return Outcome.TOPICAL if topical else Outcome.OTHER

    def should_examine(self, url: str) -> bool:
        """Return whether to examine a page: the first ones of a format, then some of them."""
        if self.pages >= MAX_UNREADY_PAGES and not self.ready:
            self._unready_pages += 1
            return self._unready_pages % CHECK_EVERY == 0
        known = self.tallies.get(skeleton(url).text)
        return known is None or known.judged < CHECK_FIRST or known.seen % CHECK_EVERY == 0

    def learn(self) -> None:
        """Rebuild the patterns from the tallies; manual patterns are kept."""
        self._schedule_learning()
        self.apply(learnt_patterns(self.tallies))

    def _schedule_learning(self) -> None:
        self._relearn_at = max(self.pages + RELEARN[0], int(self.pages * RELEARN[1]))

    def judge(self, url: str) -> Judgement:
        """Return the expected kind of a link; OPEN if the site is not ready."""
        pattern = self._match(url) if self.ready else self.patterns.match(url, by_hand=True)
        if pattern is not None and pattern.by_hand:
            return Judgement(pattern.label, "by-hand", pattern.expression)
        if not self.ready:
            return Judgement(Label.OPEN, "learning")
        if pattern is not None and pattern.label in (Label.NEWS, Label.HUB):
            return Judgement(pattern.label, "pattern", pattern.expression)
        if is_hub_like(url):
            return Judgement(Label.HUB, "look")
        if pattern is not None and pattern.label is Label.OTHER:
            return Judgement(pattern.label, "pattern", pattern.expression)
        return self._judge_by_look(url, pattern)

    def is_news(self, url: str) -> bool:
        """Return whether a URL is expected to be an article.

        Patterns with judged pages decide first, then the look of the URL. If the site is ``ready``,
        a higher likelihood is needed, and the look must have been reliable for the site.
        """
        pattern = self._match(url)
        if pattern is not None and pattern.by_hand:
            return pattern.label is Label.NEWS
        if self._unread_period(url):
            return False
        if pattern is not None and (pattern.articles or (self.ready and pattern.judged)):
            return pattern.label is Label.NEWS
        if not self.ready:
            return news_likelihood(url) >= NEWS_SHARE
        usual = self._look_reliable and (skeleton(url).dated or not self._all_dated)
        return usual and news_likelihood(url) >= HIGH_LIKELIHOOD

    def _match(self, url: str) -> Pattern | None:
        """Return the pattern of a URL, or of the same path on another host of the site."""
        url = url.partition("#")[0]
        pattern = self.patterns.match(url)
        if pattern is None and self._paths and not is_non_news(url):
            shape = skeleton(url)
            host = self._paths.get((shape.segments, shape.query), shape.host)
            if host != shape.host:
                return self.patterns.match(url.replace(f"//{shape.host}/", f"//{host}/", 1))
        return pattern

    def _unread_period(self, url: str) -> bool:
        """Return whether a URL's date is old and before that of any judged page."""
        oldest, newest = self._years
        return 0 < year_of(url, skeleton(url)) < min(oldest, newest - OLD_YEARS + 1)

    def _judge_by_look(self, url: str, pattern: Pattern | None) -> Judgement:
        if pattern is not None and pattern.topical:
            return Judgement(Label.OPEN, "on-topic", pattern.expression)
        judged = pattern is not None and pattern.judged
        aside = is_non_news(url)
        if aside and (judged or not is_user_content(url)):
            return Judgement(Label.OTHER, "no-pattern", skeleton(url).text)
        nearly_all = self.articles >= NEARLY_ALL * self.pages
        if not aside and (judged or nearly_all or news_likelihood(url) >= MIN_LIKELIHOOD):
            return Judgement(Label.OPEN, "look")
        shape = skeleton(url).text
        passed = self._allowed[shape] = self._allowed.get(shape, 0) + 1
        if passed <= FIRST_OF_FORMAT:
            return Judgement(Label.OPEN, "look", shape)
        return Judgement(Label.OTHER, "no-pattern", shape)

    def _index(self) -> None:
        read = [tally for tally in self.tallies.values() if tally.articles]
        self._paths = {(t.shape.segments, t.shape.query): t.shape.host for t in read}
        years = [year for tally in self.tallies.values() for year in tally.years]
        newest = max((year for tally in read for year in tally.years), default=0)
        self._years = min(years, default=0), newest
        plain = [t for t in self.tallies.values() if t.judged and t.likelihood >= HIGH_LIKELIHOOD]
        articles, judged = sum(t.articles for t in plain), sum(t.judged for t in plain)
        undated = any(not tally.shape.dated for tally in read)
        self._all_dated = self.articles >= DATED_ARTICLES and not undated
        self._look_reliable = expected(articles, judged, HIGH_LIKELIHOOD) >= HIGH_LIKELIHOOD / 2

    def _tally(self, url: str, shape: Skeleton) -> Tally:
        known = self.tallies.get(shape.text)
        if known is None:
            if len(self.tallies) >= MOST_FORMATS:
                self._evict()
            known = self.tallies[shape.text] = Tally(shape, url, news_likelihood(url))
        return known

    def _evict(self) -> None:
        """Evict the formats with the fewest links and judged pages."""
        by_evidence = sorted(
            self.tallies.items(), key=lambda item: -item[1].seen - 20 * item[1].judged
        )
        self.tallies = dict(by_evidence[: int(MOST_FORMATS * _KEPT_SHARE)])

    def to_json(self) -> dict[str, Any]:
        """Return plain values for ``from_json``."""
        return {
            "patterns": [pattern._asdict() for pattern in self.patterns.patterns],
            "formats": [tally.to_json() for tally in self.tallies.values()],
            "pages": self.pages,
            "articles": self.articles,
            "article_links": round(self._article_links, 2),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SiteLearner:
        """Return the learner for a result of ``to_json``."""
        site = cls()
        tallies = map(Tally.from_json, value.get("formats", ()))
        site.tallies = {tally.shape.text: tally for tally in tallies}
        site.patterns = PatternSet(tuple(map(Pattern.from_json, value.get("patterns", ()))))
        site.pages, site.articles = int(value.get("pages", 0)), int(value.get("articles", 0))
        likely = (t for t in site.tallies.values() if t.likelihood >= NEWS_SHARE)
        site._newslike = sum(tally.articles for tally in likely)
        site._article_links = float(value.get("article_links", 0.0))
        site._relearn_at = site.pages + RELEARN[0]
        site._index()
        return site


def learnt_patterns(tallies: Mapping[str, Tally]) -> list[Pattern]:
    """Return the patterns of the formats."""
    found: dict[Pattern, None] = {}
    for cluster in clusters(list(tallies.values())):
        cuts = change_points(cluster)
        spans: list[tuple[int, int] | None] = [None]
        if cuts:
            ends = pairwise([_FIRST_YEAR, *cuts, _LAST_YEAR + 1])
            spans = [(first, after - 1) for first, after in ends]
        found |= dict.fromkeys(_pattern(tallies, cluster, span) for span in spans)
    return list(found)


def _pattern(
    tallies: Mapping[str, Tally], cluster: Sequence[Tally], years: tuple[int, int] | None
) -> Pattern:
    pages, likelihood = pooled(cluster)
    if years is not None:
        counts = [n for t in cluster for y, n in t.years.items() if years[0] <= y <= years[1]]
        articles, others = (sum(n[kind] for n in counts) for kind in (0, 1))
        pages = Counter({Outcome.ARTICLE: articles, Outcome.OTHER: others})
    return Pattern(
        _expression_of(cluster, "" if years is None else year_span(*years), tallies),
        label_of(pages, likelihood),
        pages[Outcome.ARTICLE],
        pages[Outcome.HUB],
        pages[Outcome.OTHER],
        sum(tally.seen for tally in cluster),
        cluster[0].example,
        topical=pages[Outcome.TOPICAL],
    )


def label_of(pages: Mapping[str, int], likelihood: float) -> Label:
    """Return the label of a pattern, by the outcomes of its pages and the look of its URLs.

    >>> label_of({"article": 3}, 0.9).value, label_of({"other": 5}, 0.02).value
    ('news', 'other')
    >>> label_of({"other": 5}, 0.95).value
    'open'
    """
    articles, hubs = pages.get(Outcome.ARTICLE, 0), pages.get(Outcome.HUB, 0)
    topical, judged = pages.get(Outcome.TOPICAL, 0), sum(pages.values())
    share = expected(articles, judged, likelihood)
    if articles and share >= NEWS_SHARE:
        return Label.NEWS
    if hubs and hubs >= HUB_SHARE * judged:
        return Label.HUB
    if topical >= TOPICAL_SHARE * judged and topical:
        return Label.OPEN
    return Label.OTHER if judged >= FIRST_OF_FORMAT and share < OTHER_SHARE else Label.OPEN


def _expression_of(cluster: Sequence[Tally], years: str, known: Mapping[str, Tally]) -> str:
    """Return the expression of a cluster; a general one if it matches no other cluster's URLs."""
    shapes = [tally.shape for tally in cluster]
    wide = expression(shapes, years=years)
    own = {shape.text for shape in shapes}
    matches = re.compile(wide).fullmatch
    if any(matches(tally.example) for key, tally in known.items() if key not in own):
        return expression(shapes, years=years, general=False)
    return wide
