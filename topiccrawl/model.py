"""Immutable values that the packages exchange.

Values created ten thousand times a second, such as links, are named tuples. Scores are in [0, 1];
times are seconds since the epoch (UTC); texts are Unicode.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Mapping

Evidence = tuple[float, ...]
"""Evidence of one URL, as numbers; the strategy defines the meaning of each position."""

CHALLENGE = "challenge"
"""Reason of a page that its site replaced by a check of the visitor; the host backs off."""


class Link(NamedTuple):
    """Out-link of a fetched page, not scored yet.

    Attributes:
        url: Absolute, canonical URL without fragment.
        anchor: Visible text of the anchor (``title`` or an image's ``alt`` if it has none).
        context: Text around the anchor, without it and without the block's other anchors.
        block: Number of the link block (list, table, navigation bar) in the page, from 0; -1 for a
            link in running text.
        regions: Numbers of the link's region by its surrounding elements: among the pages of the
            site, of the page's directory, and in the page; 0 < number < 2**24. Links with the same
            number are in the same region. 0 if there are no elements.
        foreign: True if the link leads to another site (registrable domain).
    """

    url: str
    anchor: str = ""
    context: str = ""
    block: int = -1
    regions: tuple[int, int, int] = (0, 0, 0)
    foreign: bool = False


class Directives(NamedTuple):
    """Robots directives of a page: meta robots and X-Robots-Tag, merged."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False


class Page(NamedTuple):
    """A fetched HTML page, parsed once.

    Attributes:
        url: URL of the page.
        title: Text of ``<title>`` with folded white space; empty if there is none.
        text: Visible text of the whole page with folded white space.
        links: Out-links that may be followed, once each (first place, longest anchor), in page
            order.
        canonical: Absolute URL of ``<link rel=canonical>``, or None.
        directives: Robots directives.
        prose: Text of the page without the anchors of link blocks.
        feed: True for a feed or sitemap.
        expected: Page score in [0, 1] that the links to the page predict
            (``LinkStrategy.expected``); None: the page is judged by its text alone.
    """

    url: str
    title: str
    text: str
    links: tuple[Link, ...] = ()
    canonical: str | None = None
    directives: Directives = Directives()
    prose: str = ""
    feed: bool = False
    expected: float | None = None


class PageKind(StrEnum):
    """Kind of a judged page; articles and hubs are the harvest of a crawl.

    An ARTICLE is on topic and has a text to read, a HUB is on topic and lists such articles.
    """

    ARTICLE = "article"
    HUB = "hub"
    OTHER = "other"


LINKS = "(links)"
"""Entry of ``Verdict.terms`` and ``Article.terms`` with ``Page.expected``; always the last one."""


class Verdict(NamedTuple):
    """Relevance of a page to a topic.

    Attributes:
        relevance: Cosine of page and topic, in [0, 1]; combined with what the links to the page
            predict (``topics.linked``), or of another model.
        relevant: True if the relevance reaches the lower limit.
        terms: Topic terms found, each with its share of the score, largest first; last, as
            "(links)", the page score that the links predicted, if it counts.
        article: Article share in [0, 1]: 1 for a text to read, near 0 for a list of headlines.
        kind: Kind of the page; OTHER until its article was extracted.
        by_words: Verdict by the topic's words alone, if links, another model or ``min_terms``
            count as well.
    """

    relevance: float
    relevant: bool
    terms: tuple[tuple[str, float], ...] = ()
    article: float = 1.0
    kind: PageKind = PageKind.OTHER
    by_words: Verdict | None = None

    @property
    def for_links(self) -> Verdict:
        """The verdict that the links of the page inherit."""
        return self.by_words or self

    @property
    def harvest(self) -> float:
        """Relevance times article share, in [0, 1]: high for articles on topic.

        Links are ordered by relevance alone: a hub should be fetched, but is not an article itself.
        """
        return self.relevance * self.article


class Offer(NamedTuple):
    """Scored link of a page, for the frontier.

    Attributes:
        url: Canonical URL.
        lane: 0 priorQueue, 1 normalQueue, 2 errorQueue (predicted below minNormal).
        evidence: Numbers for the strategy's ``fold``.
        anchor: Anchor text, stored to re-score the URL when the topic changes.
        context: Context text, stored for the same purpose.
    """

    url: str
    lane: int
    evidence: Evidence
    anchor: str = ""
    context: str = ""


class Kind(StrEnum):
    """Purpose of a lease."""

    PAGE = "page"
    ROBOTS = "robots"


class Lease(NamedTuple):
    """The right to fetch one URL once.

    Attributes:
        url: Canonical URL (for ``Kind.ROBOTS`` the origin's /robots.txt).
        key: Identity of the URL, opaque bytes.
        epoch: Number of this lease; a ``finish`` with an older epoch is ignored and counted.
        kind: PAGE, or ROBOTS for a robots.txt that is needed before the host's pages.
        lane: Lane of the URL.
        value: Value at lease time, including the group bias.
        evidence: Evidence at lease time (empty for seeds and robots.txt).
        depth: Links from the nearest seed when the URL was first queued; seeds have 0.
        attempts: Failed fetches before this one.
        redirects: Redirects followed on the way to this URL.
        expires: Time at which the lease expires, seconds since the epoch.
        payload: JSON text that was pushed with the URL, or "".
        anchor: Anchor text stored with the URL; empty for seeds and robots.txt.
        context: Context text stored with the URL.
    """

    url: str
    key: bytes
    epoch: int
    kind: Kind = Kind.PAGE
    lane: int = 0
    value: float = 0.0
    evidence: Evidence = ()
    depth: int = 0
    attempts: int = 0
    redirects: int = 0
    expires: float = 0.0
    payload: str = ""
    anchor: str = ""
    context: str = ""


class Findings(NamedTuple):
    """Result of a page for the frontier, yielded once by a callback.

    Attributes:
        relevance: Relevance of the page in [0, 1] that its links inherit (``Verdict.for_links``).
        offers: Scored links of the page.
        worth: Contribution to the statistics of its host and directory, in [0, 1]; None: relevance.
        relevant: True if the page is on topic.
        lists: True if the page lists new pages: a feed.
        harvest: True for an article on topic or a hub of such articles.
        kind: Kind of the page, for ``scrapy why``; "" if it was not judged.
        paged: True for a list with further pages, which does not count in its directories.
    """

    relevance: float
    offers: tuple[Offer, ...] = ()
    worth: float | None = None
    relevant: bool = False
    lists: bool = False
    harvest: bool = False
    kind: str = ""
    paged: bool = False


class Mark(NamedTuple):
    """Mark of a page by a reader, as training data of a relevance model.

    Attributes:
        url: URL of the page.
        title: Title of the page.
        text: Judged text of the page (``topics.scorer.Scorer.judged_text``).
        wanted: Whether the reader wants such pages; None for a page without a mark.
        article: Article share of the page, in [0, 1].
        expected: See ``Page``.
    """

    url: str
    title: str
    text: str
    wanted: bool | None = None
    article: float = 1.0
    expected: float | None = None

    def to_json(self) -> str:
        """Return the mark as one line of JSON."""
        return json.dumps(self._asdict(), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Extracted:
    """Article extracted from a page.

    Attributes:
        title: Headline, without the site's name.
        body: Main text, one paragraph per line, no blank lines.
        published: ISO 8601 date or date and time, with the zone of the page or its language if
            there is one (``2016-01-12T10:23:00+08:00``), or "".
        source: First publisher (来源), or "".
        author: Writers or reporters, joined by a blank, or "".
        language: ISO 639-1 code (``zh``, ``en``), or "" if it is unknown.
        images: Absolute URLs of the article's images in page order, once each.
        genre: Genre of the page (``extract.genres.Genre``).
        digest: See ``Article``; "" if no reader process computed it.
    """

    title: str
    body: str
    published: str = ""
    source: str = ""
    author: str = ""
    language: str = ""
    images: tuple[str, ...] = ()
    genre: str = "article"
    digest: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Article:
    """Article as stored and exported; the item of Scrapy's pipelines.

    Attributes:
        url: Canonical form of the requested URL; identifies the article.
        title: Headline.
        body: Main text, one paragraph per line.
        final_url: URL after redirects; ``url`` if there were none.
        canonical_url: Canonical URL that the page declares, or "".
        site: Host of the final URL, lower case, no port.
        published: ISO 8601, see ``Extracted``.
        source: See ``Extracted``.
        author: See ``Extracted``.
        language: See ``Extracted``.
        images: See ``Extracted``.
        topics: Topic name to score in [0, 1].
        terms: Topic terms found, each with its share of the score, largest first; last, as
            "(links)", the page score that the links predicted, if it counts.
        fetched_at: Seconds since the epoch.
        depth: Links from the nearest seed.
        digest: MD5 of the folded main text, or "" for a text too short to compare.
        noarchive: True if the page's directives forbid showing a copy.
        encoding: Character encoding from which the page was decoded.
        reprint_of: URL of the stored article with the same story, or "" if none is known.
        follows: URL of the older stored article that this one follows up, or "".
        event: URL of the first stored article about the same event, or "" if events are not
            grouped.

    Raises:
        ValueError: A score or a time is not a number, a score is outside [0, 1], or the URL is
            empty.
    """

    url: str
    title: str
    body: str
    final_url: str = ""
    canonical_url: str = ""
    site: str = ""
    published: str = ""
    source: str = ""
    author: str = ""
    language: str = ""
    images: tuple[str, ...] = ()
    topics: Mapping[str, float] = field(default_factory=dict)
    terms: tuple[tuple[str, float], ...] = ()
    fetched_at: float = 0.0
    depth: int = 0
    digest: str = ""
    noarchive: bool = False
    encoding: str = ""
    reprint_of: str = ""
    follows: str = ""
    event: str = ""

    def __post_init__(self) -> None:
        if not self.url:
            raise ValueError("an article needs a url")
        for topic, score in self.topics.items():
            if not 0.0 <= score <= 1.0:
                raise ValueError(f"{self.url}: score of topic {topic!r} is {score}, not in [0, 1]")
        if not math.isfinite(self.fetched_at):
            raise ValueError(f"{self.url}: fetched_at is {self.fetched_at}, not a time")

    @override
    def __str__(self) -> str:
        return f"{self.title} <{self.url}>"

    @property
    def words(self) -> tuple[tuple[str, float], ...]:
        """The terms without ``LINKS``."""
        return tuple(pair for pair in self.terms if pair[0] != LINKS)

    @property
    def expected(self) -> float | None:
        """Page score that the links predicted when the article was stored; see ``Page``."""
        return dict(self.terms).get(LINKS)

    def expected_for(self, topic: str) -> float | None:
        """Return ``expected`` if the article's terms, those of its best topic, are of this one."""
        best = max(self.topics, key=self.topics.__getitem__, default="")
        return self.expected if best == topic else None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain JSON values by name, in field order.

        >>> Article("http://a.test/1", "题", "文", topics={"足球": 0.5}).to_dict()["topics"]
        {'足球': 0.5}
        """
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Article:
        """Return the article from the result of ``to_dict``.

        Raises:
            TypeError: A field is unknown or missing.

        >>> article = Article("http://a.test/1", "题", "文", images=("http://a.test/i.jpg",))
        >>> Article.from_dict(article.to_dict()) == article
        True
        """
        return cls(**{name: _frozen(value) for name, value in values.items()})


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Article with parts still to be fetched: it is stored, but not shown yet."""

    article: Article

    @override
    def __str__(self) -> str:
        return str(self.article)


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return dict(value)
    return value


def _frozen(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
