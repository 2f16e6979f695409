"""Composition of articles from extraction, fetch and verdict."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from topiccrawl.extract.extract import extract
from topiccrawl.links.page import read_page
from topiccrawl.links.urls import canonical, host_of
from topiccrawl.model import Article, Extracted, Page, Verdict
from topiccrawl.text.digest import digest_of


@dataclass(frozen=True, slots=True)
class Fetch:
    """Data about a fetch.

    Attributes:
        url: Canonical URL of the request.
        fetched_at: Seconds since the epoch.
        depth: Links from the nearest seed.
        encoding: Character encoding of the page.
    """

    url: str
    fetched_at: float
    depth: int = 0
    encoding: str = ""


def extract_article(html: str, url: str, fetched_at: float = 0.0) -> Article | None:
    """Extract the article of a page, including its digest; return None for other pages.

    Args:
        html: The decoded page (``topiccrawl.text.decode``).
        url: URL of the page.
        fetched_at: Seconds since the epoch; limits dates. 0 if unknown.

    >>> text = "今天上午，新能源汽车展览会在市中心开幕。" * 5
    >>> article = extract_article(f"<h1>车展开幕</h1><p>{text}</p>", "http://a.test/2020-01-02/1.html#x")
    >>> article.url, article.title, article.published
    ('http://a.test/2020-01-02/1.html', '车展开幕', '2020-01-02')
    """
    address = canonical(url) or url
    page = read_page(html, address)
    extracted = extract(html, address, page, fetched_at)
    return None if extracted is None else compose(extracted, Fetch(address, fetched_at), page)


def page_of(extracted: Extracted, page: Page) -> Page:
    """Return the article of a page as a page of its own, to score it.

    >>> page_of(Extracted("题", "文"), Page("http://a.test/1.html", "题 - 网站", "菜单 文")).prose
    '文'
    """
    body = extracted.body
    return Page(page.url, extracted.title, body, prose=body, expected=page.expected)


def compose(
    extracted: Extracted, fetch: Fetch, page: Page, topic: str = "", verdict: Verdict | None = None
) -> Article:
    """Create the article of a page, with its digest and the verdict for one topic.

    All fields of ``Extracted`` but the genre are fields of the article.

    >>> from topiccrawl.model import Extracted, Page, Verdict
    >>> page = Page("http://a.test/1.html", "题", "文")
    >>> fetch = Fetch("http://a.test/1", fetched_at=0.0)
    >>> article = compose(Extracted("题", "文"), fetch, page, "足球", Verdict(0.5, relevant=True))
    >>> article.site, article.final_url, dict(article.topics)
    ('a.test', 'http://a.test/1.html', {'足球': 0.5})
    """
    values = asdict(extracted)
    del values["genre"]
    return Article(
        **values | {"digest": extracted.digest or digest_of(extracted.body)},
        url=fetch.url,
        final_url=page.url,
        canonical_url=page.canonical or "",
        site=host_of(page.url),
        topics={topic: min(1.0, max(0.0, verdict.relevance))} if verdict else {},
        terms=verdict.terms if verdict else (),
        fetched_at=fetch.fetched_at,
        depth=fetch.depth,
        noarchive=page.directives.noarchive,
        encoding=fetch.encoding,
    )
