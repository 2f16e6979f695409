"""The article: what a crawl is run for, from the page that gave it to the record that stays."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from typing_extensions import override

from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.model import Page, Verdict


@dataclass(frozen=True, slots=True)
class Extracted:
    """What an article page says of itself.

    Attributes:
        title: Headline, without the site's name.
        body: Main text, one paragraph a line, no blank lines.
        published: ISO 8601 date or date and time, with zone where the page or its language tells
            one (``2016-01-12T10:23:00+08:00``), or "".
        source: Who published it first (来源), or "".
        author: Writers, reporters or editors, joined by a blank, or "".
        language: ISO 639-1 code (``zh``, ``en``), or "" where neither is likely.
        images: Absolute URLs of the article's images, page order, each once.
    """

    title: str
    body: str
    published: str = ""
    source: str = ""
    author: str = ""
    language: str = ""
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Article:
    """One article as it is stored and exported; it is the item that Scrapy's pipelines carry.

    Attributes:
        url: Identity: canonical form of the URL it was requested under.
        title: Headline.
        body: Main text, one paragraph a line.
        final_url: URL after redirects; ``url`` where there was none.
        canonical_url: What the page itself names as its URL, or "".
        site: Host of the final URL, lower case, no port.
        published: ISO 8601, see ``Extracted``.
        source: See ``Extracted``.
        author: See ``Extracted``.
        language: See ``Extracted``.
        images: See ``Extracted``.
        topics: Topic name to score in [0, 1].
        terms: Why: topic terms found, each with its share of the score, heaviest first.
        fetched_at: Seconds since the epoch.
        depth: Links from the nearest seed.
        digest: MD5 of the folded main text, or "" for a text too short to compare.
        noarchive: The owner asks that no copy of the page be shown.
        encoding: Character encoding the page was decoded from.
        reprint_of: URL of the stored article that tells the same story, once that is known; "".

    Raises:
        ValueError: A score or a time that is no number, a score outside [0, 1], or no URL.
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
        """Plain JSON values by field name, in field order.

        >>> Article("http://a.test/1", "题", "文", topics={"足球": 0.5}).to_dict()["topics"]
        {'足球': 0.5}
        """
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Article:
        """The article whose ``to_dict`` is ``values``.

        Raises:
            TypeError: A field that no article has, or a missing one.

        >>> article = Article("http://a.test/1", "题", "文", images=("http://a.test/i.jpg",))
        >>> Article.from_dict(article.to_dict()) == article
        True
        """
        frozen = dict(values)
        frozen["images"] = tuple(frozen.get("images", ()))
        frozen["terms"] = tuple((term, share) for term, share in frozen.get("terms", ()))
        return cls(**frozen)


@dataclass(frozen=True, slots=True)
class Fetch:
    """How a page was come by: what the page itself cannot say.

    Attributes:
        url: Canonical URL it was requested under.
        fetched_at: Seconds since the epoch.
        depth: Links from the nearest seed.
        encoding: Character encoding it was decoded from.
    """

    url: str
    fetched_at: float
    depth: int = 0
    encoding: str = ""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An article of which more parts are still to be fetched: it is stored, but not shown yet."""

    article: Article


def compose(
    extracted: Extracted, fetch: Fetch, page: Page, topic: str, verdict: Verdict
) -> Article:
    """The article of one page for one topic, digest included.

    >>> from topiccrawl.model import Page, Verdict
    >>> page = Page("http://a.test/1.html", "题", "文")
    >>> fetch = Fetch("http://a.test/1", fetched_at=0.0)
    >>> article = compose(Extracted("题", "文"), fetch, page, "足球", Verdict(0.5, relevant=True))
    >>> article.site, article.final_url, dict(article.topics)
    ('a.test', 'http://a.test/1.html', {'足球': 0.5})
    """
    return Article(
        url=fetch.url,
        title=extracted.title,
        body=extracted.body,
        final_url=page.url,
        canonical_url=page.canonical or "",
        site=urlsplit(page.url).hostname or "",
        published=extracted.published,
        source=extracted.source,
        author=extracted.author,
        language=extracted.language,
        images=extracted.images,
        topics={topic: min(1.0, max(0.0, verdict.relevance))},
        terms=verdict.terms,
        fetched_at=fetch.fetched_at,
        depth=fetch.depth,
        digest=digest_of(extracted.body),
        noarchive=page.directives.noarchive,
        encoding=fetch.encoding,
    )


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return dict(value)
    return value
