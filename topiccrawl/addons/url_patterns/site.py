"""Learner of one site's URLs: tallies by format, patterns made of them, judgement of links."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.addons.url_patterns.clusters import clusters
from topiccrawl.addons.url_patterns.expression import expression, year_span
from topiccrawl.addons.url_patterns.pattern import Label, Pattern, PatternSet
from topiccrawl.addons.url_patterns.periods import changes
from topiccrawl.addons.url_patterns.tally import TOPICAL_SHARE, Outcome, Tally, expected, together
from topiccrawl.links.newsurls import is_hub_like, is_non_news, is_user_content, news_likelihood
from topiccrawl.links.skeletons import Skeleton, skeleton, year_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_FORMATS = 300
"""Formats kept of a site; those with the fewest links and judged pages are evicted first."""

READY_PAGES, READY_ARTICLES = 15, 5
"""Pages judged, and articles among them, before anything of a site is dropped."""

PLAIN_SHARE = 0.5
"""Share of a site's articles that must look like news by their URL: an encyclopedia or a manual
names its pages by words, and nothing of it is dropped by its look."""

PATIENCE = 60
"""Pages judged of a site that cannot be filtered, from which on few more are looked into."""

NEWS_SHARE = 0.5
"""Expected share of articles from which on a pattern is news."""

OTHER_SHARE = 0.1
"""Expected share of articles below which a pattern's URLs are not downloaded."""

HUB_SHARE = 0.3
"""Share of hubs among a pattern's judged pages from which on it is one of hubs."""

NEARLY_ALL = 0.8
"""Share of articles among a site's pages from which on a format never met is fetched whatever its
look: there is little to save, and the look has been wrong about this site."""

LIKELY = 0.35
"""Likelihood by its look from which on a URL that matches no pattern is fetched."""

SURE_LOOK = 0.85
"""Likelihood by its look from which on a URL that matches no pattern of a site is expected to be
an article, where the site's pages of such a look were."""

OLD_YEARS = 10
"""Years before a site's newest article from which on nothing is expected of a period of which no
page was read: archives are moved, shortened, or shown in another format."""

DATED_ARTICLES = 10
"""Articles of a site, all with a date in their URL, from which on one without is not expected."""

FIRST_OF_FORMAT = 2
"""Links of an unknown format let through, so that it can be learnt."""

RELEARN = (15, 1.5)
"""Patterns are rebuilt after so many judged pages more, and not before this factor."""

FEWEST_HUB_LINKS, HUB_FACTOR = 10, 1.5
"""Article links of a hub: at least, and times those of the site's articles."""

_FIRST_YEAR, _LAST_YEAR = 1980, 2049
_FULL_KEPT = 0.8


class Judgement(NamedTuple):
    """Expected kind of a link.

    Attributes:
        label: NEWS, HUB, OTHER, or OPEN without evidence.
        reason: ``by-hand``, ``pattern``, ``no-pattern``, ``look`` or ``learning``.
        what: Expression or format behind it.
    """

    label: Label
    reason: str
    what: str = ""


class SiteLearner:
    """Learns the URLs of one site. No clock, no chance: equal histories give equal patterns."""

    def __init__(self) -> None:
        self.tallies: dict[str, Tally] = {}
        self.patterns = PatternSet()
        self.pages = 0
        self.articles = 0
        self._plain = 0  # articles that look like news by their URL
        self._asked = 0
        self._relearn_at = RELEARN[0]
        self._article_links = 0.0
        self._passed: dict[str, int] = {}
        self._paths: dict[tuple[object, object], str] = {}  # of articles, to a host
        self._years = 0, 0  # the oldest of any page read, the newest of an article
        self._look_holds = True
        self._all_dated = False

    @property
    def ready(self) -> bool:
        """Return whether there are enough judged pages and articles to drop any link."""
        enough = self.pages >= READY_PAGES and self.articles >= READY_ARTICLES
        return enough and self._plain >= PLAIN_SHARE * self.articles

    def see(self, url: str) -> None:
        """Count a link that was found."""
        self._tally(url, skeleton(url)).seen += 1

    def observe(self, url: str, outcome: Outcome) -> None:
        """Count a page, and rebuild the patterns where it is time."""
        if self.count(url, outcome):
            self.learn()

    def count(self, url: str, outcome: Outcome) -> bool:
        """Count a page; return whether it is time to rebuild the patterns, reported once."""
        shape = skeleton(url)
        talk = outcome is Outcome.TOPICAL and is_user_content(url)
        said = Outcome.OTHER if is_non_news(url) and not talk else outcome
        self._tally(url, shape).add(said, year_of(url, shape))
        self.pages += 1
        self.articles += said is Outcome.ARTICLE
        self._plain += said is Outcome.ARTICLE and news_likelihood(url) >= NEWS_SHARE
        if self.pages < self._relearn_at or not self.ready:
            return False
        self._put_off()
        return True

    def draft(self) -> SiteLearner:
        """Return a copy that can ``learn`` in another thread; ``adopt`` takes over its patterns."""
        copy = SiteLearner()
        copy.tallies = {key: tally.copy() for key, tally in self.tallies.items()}
        copy.pages, copy.articles, copy._plain = self.pages, self.articles, self._plain
        return copy

    def adopt(self, draft: SiteLearner) -> None:
        """Take over a draft's patterns; those by hand stay, tallies have gone on since."""
        self.patterns = PatternSet((*self.patterns.by_hand, *draft.patterns.patterns))
        self._passed.clear()
        self._index()

    def outcome(self, *, article: bool, links: int, topical: bool = False) -> Outcome:
        """Return the outcome of a page.

        Args:
            article: Whether an article was extracted.
            links: Links of it that look like articles.
            topical: Whether it is on the crawl's topic.
        """
        if article:
            rate = 1 / min(self.articles + 1, 50)
            self._article_links += rate * (links - self._article_links)
            return Outcome.ARTICLE
        hub = links >= max(FEWEST_HUB_LINKS, HUB_FACTOR * self._article_links)
        if hub:
            return Outcome.HUB
        return Outcome.TOPICAL if topical else Outcome.OTHER

    def wants(self, url: str, first: int, every: int) -> bool:
        """Return whether to examine a URL's page: the first of a format, then every so many."""
        if self.pages >= PATIENCE and not self.ready:
            self._asked += 1
            return self._asked % every == 0
        known = self.tallies.get(skeleton(url).text)
        return known is None or known.judged < first or known.seen % every == 0

    def learn(self) -> None:
        """Rebuild the patterns from the tallies; those by hand stay."""
        self._put_off()
        found: list[Pattern] = []
        for cluster in clusters(list(self.tallies.values())):
            found.extend(self._patterns(cluster))
        self.patterns = PatternSet((*self.patterns.by_hand, *dict.fromkeys(found)))
        self._passed.clear()
        self._index()

    def _put_off(self) -> None:
        self._relearn_at = max(self.pages + RELEARN[0], int(self.pages * RELEARN[1]))

    def judge(self, url: str) -> Judgement:
        """Return the expected kind of a link; OPEN for all where the site is not ready."""
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
        return self._by_look(url, pattern)

    def is_news(self, url: str) -> bool:
        """Return whether a URL is expected to be an article.

        By the patterns that rest on pages; else by its look. Where the site is ``ready``, the look
        must be plainer and have held for its pages so far.
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
        usual = self._look_holds and (skeleton(url).dated or not self._all_dated)
        return usual and news_likelihood(url) >= SURE_LOOK

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
        """Return whether a URL's date is far back, before that of any page read."""
        oldest, newest = self._years
        return 0 < year_of(url, skeleton(url)) < min(oldest, newest - OLD_YEARS + 1)

    def _by_look(self, url: str, pattern: Pattern | None) -> Judgement:
        if pattern is not None and pattern.topical:
            return Judgement(Label.OPEN, "on-topic", pattern.expression)
        judged = pattern is not None and pattern.judged
        aside = is_non_news(url)
        if aside and (judged or not is_user_content(url)):
            return Judgement(Label.OTHER, "no-pattern", skeleton(url).text)
        nearly_all = self.articles >= NEARLY_ALL * self.pages
        if not aside and (judged or nearly_all or news_likelihood(url) >= LIKELY):
            return Judgement(Label.OPEN, "look")
        shape = skeleton(url).text
        passed = self._passed[shape] = self._passed.get(shape, 0) + 1
        if passed <= FIRST_OF_FORMAT:
            return Judgement(Label.OPEN, "look", shape)
        return Judgement(Label.OTHER, "no-pattern", shape)

    def _index(self) -> None:
        read = [tally for tally in self.tallies.values() if tally.articles]
        self._paths = {(t.shape.segments, t.shape.query): t.shape.host for t in read}
        years = [year for tally in self.tallies.values() for year in tally.years]
        newest = max((year for tally in read for year in tally.years), default=0)
        self._years = min(years, default=0), newest
        plain = [t for t in self.tallies.values() if t.judged and t.likelihood >= SURE_LOOK]
        articles, judged = sum(t.articles for t in plain), sum(t.judged for t in plain)
        undated = any(not tally.shape.dated for tally in read)
        self._all_dated = self.articles >= DATED_ARTICLES and not undated
        self._look_holds = expected(articles, judged, SURE_LOOK) >= SURE_LOOK / 2

    def _tally(self, url: str, shape: Skeleton) -> Tally:
        known = self.tallies.get(shape.text)
        if known is None:
            if len(self.tallies) >= MOST_FORMATS:
                self._forget()
            known = self.tallies[shape.text] = Tally(shape, url, news_likelihood(url))
        return known

    def _forget(self) -> None:
        """Drop the formats with the least evidence: few links, few judged pages."""
        by_worth = sorted(
            self.tallies.items(), key=lambda item: -item[1].seen - 20 * item[1].judged
        )
        self.tallies = dict(by_worth[: int(MOST_FORMATS * _FULL_KEPT)])

    def _patterns(self, cluster: Sequence[Tally]) -> list[Pattern]:
        cuts = changes(cluster, NEWS_SHARE)
        if not cuts:
            return [self._pattern(cluster)]
        ends = [_FIRST_YEAR, *cuts, _LAST_YEAR + 1]
        return [self._pattern(cluster, (first, next_ - 1)) for first, next_ in pairwise(ends)]

    def _pattern(self, cluster: Sequence[Tally], years: tuple[int, int] | None = None) -> Pattern:
        pages, likelihood = together(cluster)
        span = ""
        if years is not None:
            span = year_span(*years)
            counts = [n for t in cluster for y, n in t.years.items() if years[0] <= y <= years[1]]
            others = sum(n[1] for n in counts)
            pages.clear()
            pages.update({Outcome.ARTICLE: sum(n[0] for n in counts), Outcome.OTHER: others})
        return Pattern(
            _written(cluster, span, self.tallies),
            label_of(pages, likelihood),
            pages[Outcome.ARTICLE],
            pages[Outcome.HUB],
            pages[Outcome.OTHER],
            sum(tally.seen for tally in cluster),
            cluster[0].example,
            topical=pages[Outcome.TOPICAL],
        )

    def to_json(self) -> dict[str, Any]:
        """Return plain values for ``from_json``."""
        return {
            "patterns": [pattern.to_json() for pattern in self.patterns.patterns],
            "formats": [tally.to_json() for tally in self.tallies.values()],
            "pages": self.pages,
            "articles": self.articles,
            "article_links": round(self._article_links, 2),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> SiteLearner:
        """Return the learner that ``to_json`` gave."""
        site = cls()
        for one in value.get("formats", ()):
            shape = skeleton(one["example"])
            likelihood = news_likelihood(one["example"])
            site.tallies[shape.text] = Tally.from_json(one, shape, likelihood)
        site.patterns = PatternSet(tuple(map(Pattern.from_json, value.get("patterns", ()))))
        site.pages, site.articles = int(value.get("pages", 0)), int(value.get("articles", 0))
        likely = (t for t in site.tallies.values() if t.likelihood >= NEWS_SHARE)
        site._plain = sum(tally.articles for tally in likely)
        site._article_links = float(value.get("article_links", 0.0))
        site._relearn_at = site.pages + RELEARN[0]
        site._index()
        return site


def label_of(pages: Mapping[str, int], likelihood: float) -> Label:
    """Return the label that pages and look give.

    >>> label_of({"article": 3}, 0.9).value, label_of({"other": 5}, 0.02).value
    ('news', 'other')
    >>> label_of({"other": 5}, 0.95).value
    'open'
    """
    articles, hubs = pages.get(Outcome.ARTICLE, 0), pages.get(Outcome.HUB, 0)
    topical = pages.get(Outcome.TOPICAL, 0)
    judged = articles + hubs + topical + pages.get(Outcome.OTHER, 0)
    share = expected(articles, judged, likelihood)
    if articles and share >= NEWS_SHARE:
        return Label.NEWS
    if hubs and hubs >= HUB_SHARE * judged:
        return Label.HUB
    if topical >= TOPICAL_SHARE * judged and topical:
        return Label.OPEN
    return Label.OTHER if judged >= FIRST_OF_FORMAT and share < OTHER_SHARE else Label.OPEN


def _written(cluster: Sequence[Tally], years: str, known: Mapping[str, Tally]) -> str:
    """Return the expression; a general one only if it matches no format of other clusters."""
    shapes = [tally.shape for tally in cluster]
    wide = expression(shapes, years=years)
    own = {shape.text for shape in shapes}
    matches = re.compile(wide).fullmatch
    if any(matches(tally.example) for key, tally in known.items() if key not in own):
        return expression(shapes, years=years, general=False)
    return wide
