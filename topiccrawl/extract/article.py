"""Article of a page: its extracted text, how it was fetched and its relevance."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from topiccrawl.extract.extract import extract
from topiccrawl.links.page import read_page
from topiccrawl.links.urls import canonical
from topiccrawl.model import Article, Extracted, Page, Verdict
from topiccrawl.text.digest import digest_of


@dataclass(frozen=True, slots=True)
class Fetch:
    """Facts about a fetch that the page itself does not contain.

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


def extract_article(html: str, url: str, fetched_at: float = 0.0) -> Article | None:
    """Return the article of a page, digest included; None if the page is none.

    Args:
        html: The decoded page (``topiccrawl.text.decode``).
        url: Its URL.
        fetched_at: Seconds since the epoch; bounds dates. 0 if it is not known.

    >>> text = "今天上午，新能源汽车展览会在市中心开幕。" * 5
    >>> article = extract_article(f"<h1>车展开幕</h1><p>{text}</p>", "http://a.test/2020-01-02/1.html#x")
    >>> article.url, article.title, article.published
    ('http://a.test/2020-01-02/1.html', '车展开幕', '2020-01-02')
    """
    address = canonical(url) or url
    page = read_page(html, address)
    extracted = extract(html, address, page, fetched_at)
    return None if extracted is None else compose(extracted, Fetch(address, fetched_at), page)


def compose(
    extracted: Extracted, fetch: Fetch, page: Page, topic: str = "", verdict: Verdict | None = None
) -> Article:
    """Return the article of one page, for one topic if it was judged; digest included.

    >>> from topiccrawl.model import Extracted, Page, Verdict
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
        topics={topic: min(1.0, max(0.0, verdict.relevance))} if verdict else {},
        terms=verdict.terms if verdict else (),
        fetched_at=fetch.fetched_at,
        depth=fetch.depth,
        digest=digest_of(extracted.body),
        noarchive=page.directives.noarchive,
        encoding=fetch.encoding,
    )
