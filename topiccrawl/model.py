"""Immutable values that the packages exchange.

Links come at ten thousands a second, so they are named tuples. Scores are in [0, 1]; times are
seconds since the epoch (UTC); texts are Unicode.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Mapping

Evidence = tuple[float, ...]
"""Evidence of one URL, as numbers; the strategy defines the meaning of each position."""


class Link(NamedTuple):
    """One out-link of a fetched page, not scored yet.

    Attributes:
        url: Absolute, canonical, without fragment.
        anchor: Visible text of the anchor (``title`` or an image's ``alt`` if it has none).
        context: Text around the anchor, without it and without the block's other anchors.
        block: Number of the link block (list, table, navigation bar) in the page, from 0;
            -1 for a link in running text.
        regions: Numbers of the place where the link stands, by the elements around it: among the
            pages of the site, of the page's directory, in the page; 0 < number < 2**24. Links
            with the same number stand in the same place. 0 where there are no elements.
        foreign: It leads to another site (registrable domain).
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
        url: Its URL.
        title: Text of ``<title>``, blanks folded; empty if there is none.
        text: Visible text of the whole page, blanks folded.
        links: Followable out-links, once each (first place, longest anchor), page order.
        canonical: Absolute URL of ``<link rel=canonical>``, or None.
        directives: Its robots directives.
        prose: The page's own text: without the anchors of link blocks.
        feed: It is a feed or a sitemap.
    """

    url: str
    title: str
    text: str
    links: tuple[Link, ...] = ()
    canonical: str | None = None
    directives: Directives = Directives()
    prose: str = ""
    feed: bool = False


class PageKind(StrEnum):
    """Kind of a judged page; articles and hubs are the harvest of a crawl.

    ARTICLE is on topic and something to read, HUB is on topic and lists such articles.
    """

    ARTICLE = "article"
    HUB = "hub"
    OTHER = "other"


class Verdict(NamedTuple):
    """Relevance of a page to a topic.

    Attributes:
        relevance: Cosine of page and topic, in [0, 1].
        relevant: True if the relevance reaches the lower limit.
        terms: The topic terms found, each with its share of the score, heaviest first.
        article: Article share in [0, 1]: 1 for a text to read, near 0 for a list of headlines.
        kind: Kind of the page; OTHER until its article was looked for.
    """

    relevance: float
    relevant: bool
    terms: tuple[tuple[str, float], ...] = ()
    article: float = 1.0
    kind: PageKind = PageKind.OTHER

    @property
    def harvest(self) -> float:
        """Relevance times article share, in [0, 1]: high for articles on topic.

        Links are ordered by relevance alone: a hub is worth fetching, but is no article itself.
        """
        return self.relevance * self.article


class Offer(NamedTuple):
    """A scored link from one page, for the frontier.

    Attributes:
        url: Canonical URL.
        lane: 0 priorQueue, 1 normalQueue, 2 errorQueue (predicted below minNormal).
        evidence: Numbers for the strategy's ``fold``.
        anchor: Anchor text, kept to re-score the URL when the topic changes.
        context: Context text, kept for the same reason.
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
        kind: A page, or the robots.txt that must be known before the host's pages.
        lane: Lane it was taken from.
        value: Its value at lease time, group bias included.
        evidence: Its evidence at lease time (empty for seeds and robots).
        depth: Links from the nearest seed when it was first queued; seeds have 0.
        attempts: Fetches that failed before this one.
        redirects: Redirects followed on the way to this URL.
        expires: Time at which the lease returns by itself, seconds since the epoch.
        payload: JSON text that the caller pushed with the URL, or "".
        anchor: Anchor text stored with the URL; empty for seeds and robots.
        context: Context text stored with it.
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
    """Result of a page for the frontier, yielded once by a callback: its relevance and its links.

    Attributes:
        relevance: The page's relevance in [0, 1].
        offers: Its scored links.
        worth: Its weight for host and directory, in [0, 1]; None for its relevance.
        relevant: True if the page is on topic.
        lists: True if the page lists new pages: a feed.
        harvest: True if it is an article on topic or a hub of such articles.
    """

    relevance: float
    offers: tuple[Offer, ...] = ()
    worth: float | None = None
    relevant: bool = False
    lists: bool = False
    harvest: bool = False


class Mark(NamedTuple):
    """A page and a reader's answer whether such pages are wanted; all input of a model.

    Attributes:
        url: The page's URL.
        title: Its title.
        text: Its judged text (``topics.scorer.Scorer.judged_text``).
        wanted: The reader's answer; None for a page without a mark.
        article: Its article share, in [0, 1].
    """

    url: str
    title: str
    text: str
    wanted: bool | None = None
    article: float = 1.0

    def to_json(self) -> str:
        """Return the mark as one line of JSON."""
        return json.dumps(self._asdict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Self:
        """Return the mark that ``to_json`` wrote."""
        return cls(**json.loads(line))


@dataclass(frozen=True, slots=True)
class Extracted:
    """Article extracted from a page.

    Attributes:
        title: Headline, without the site's name.
        body: Main text, one paragraph a line, no blank lines.
        published: ISO 8601 date or date and time, with the zone that the page or its language
            gives, if any (``2016-01-12T10:23:00+08:00``), or "".
        source: First publisher (来源), or "".
        author: Writers or reporters, joined by a blank, or "".
        language: ISO 639-1 code (``zh``, ``en``), or "" if it is unknown.
        images: Absolute URLs of the article's images, page order, each once.
        genre: Genre of the page (``extract.genres.Genre``).
    """

    title: str
    body: str
    published: str = ""
    source: str = ""
    author: str = ""
    language: str = ""
    images: tuple[str, ...] = ()
    genre: str = "article"


@dataclass(frozen=True, slots=True)
class Article:
    """One article as it is stored and exported; it is the item that Scrapy's pipelines carry.

    Attributes:
        url: Identity: canonical form of the URL it was requested under.
        title: Headline.
        body: Main text, one paragraph a line.
        final_url: URL after redirects; ``url`` if there was none.
        canonical_url: The page's own canonical URL, or "".
        site: Host of the final URL, lower case, no port.
        published: ISO 8601, see ``Extracted``.
        source: See ``Extracted``.
        author: See ``Extracted``.
        language: See ``Extracted``.
        images: See ``Extracted``.
        topics: Topic name to score in [0, 1].
        terms: Topic terms found, each with its share of the score, heaviest first.
        fetched_at: Seconds since the epoch.
        depth: Links from the nearest seed.
        digest: MD5 of the folded main text, or "" for a text too short to compare.
        noarchive: The page's directives forbid to show a copy.
        encoding: Character encoding the page was decoded from.
        reprint_of: URL of the stored article with the same story, or "" if none is known.
        follows: URL of the older stored article that this one follows up, or "".
        event: URL of the first stored article about the same event, or "" if it was not looked for.

    Raises:
        ValueError: A score or a time is no number, a score is outside [0, 1], or the URL is empty.
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

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values by field name, in field order.

        >>> Article("http://a.test/1", "题", "文", topics={"足球": 0.5}).to_dict()["topics"]
        {'足球': 0.5}
        """
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Article:
        """Return the article whose ``to_dict`` is ``values``.

        Raises:
            TypeError: A field is unknown or missing.

        >>> article = Article("http://a.test/1", "题", "文", images=("http://a.test/i.jpg",))
        >>> Article.from_dict(article.to_dict()) == article
        True
        """
        frozen = dict(values)
        frozen["images"] = tuple(frozen.get("images", ()))
        frozen["terms"] = tuple((term, share) for term, share in frozen.get("terms", ()))
        return cls(**frozen)


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An article with parts still to be fetched: it is stored, but not shown yet."""

    article: Article


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return dict(value)
    return value
