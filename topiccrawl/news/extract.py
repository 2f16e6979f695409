"""An article out of a page, or nothing where the page is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

from topiccrawl.links.limits import parsed
from topiccrawl.news.article import Extracted
from topiccrawl.news.body import Body, find_body, language_of, sanitize, tidy
from topiccrawl.news.bylines import author_in, medium_beside_date, source_in
from topiccrawl.news.dates import published
from topiccrawl.news.duplicates import fold
from topiccrawl.news.frames import find_framed
from topiccrawl.news.metadata import Metadata, read_metadata
from topiccrawl.news.titles import headline

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

    from topiccrawl.news.frames import SiteFrame
    from topiccrawl.records import Page


class Asked(NamedTuple):
    """What is asked of a main text.

    Attributes:
        letters: Letters and digits it has at least, for Chinese; others ``LATIN`` times as many.
        sentences: Share of it that stands in lines with a sentence's punctuation, at least.
    """

    letters: int
    sentences: float


STATED = Asked(60, 0.0)
"""Of a page whose metadata says that it is an article, and its date: a table will do."""

HINTED = Asked(60, 0.2)
"""Of a page whose metadata says one of both."""

DATED = Asked(60, 0.5)
"""Of a page with a date near its headline or in its URL."""

UNDATED = Asked(150, 0.7)
"""Of a page without any date: next to all news have one, channel and topic pages have none."""

PART = Asked(1, 0.0)
"""Of a later page of an article."""

LISTED = Asked(200, 0.9)
"""A dated text of so many letters, with so much of the page's sentences and no links, may be a
list: a programme, a table of results."""

UNLINKED = 0.05
"""Largest share of anchor text in a list that may be an article."""

LATIN = 3
"""Letters of a Latin text that say as much as one Chinese character."""

LINKED = 0.5
"""Largest share of anchor text in an article's body."""

NEAR = 600
"""Characters before and after the headline and the body where dates and bylines are looked for."""

MOST_IMAGES = 50

_SOURCE_MARKS = (
    "#media_span, #source_baidu, .source, .a_source, .where, .media, .laiyuan, "
    "[itemprop=publisher], [class*=source]"
)
_NAME = (2, 20)  # shortest and longest name of a source
_PROBE = 20  # letters of a body's line that are looked for in the page
_PUNCTUATION = re.compile(r"[。！？；…”!?]|[.;](?=\s|$)")


def extract(
    html: str,
    url: str,
    page: Page | None = None,
    fetched_at: float = 0.0,
    *,
    part: bool = False,
    frame: SiteFrame | None = None,
) -> Extracted | None:
    """The article of a page; None for a page that is none (hub, gallery, form, error page).

    A page is an article if it is not a host's root and its main text is long enough, not mostly
    links, and made of sentences; how much is asked (``STATED`` to ``UNDATED``) depends on what
    speaks for an article besides. Metadata is believed before text. Never raises; reads
    ``LONGEST`` characters at most of what ``links.limits`` leaves of a page, so its time is bounded
    (seconds for pages made to hurt, 20 to 40 ms for real ones).

    Args:
        html: The decoded page.
        url: Where it was fetched, for relative addresses and a date in it.
        page: The same page as read by the links room, where it is at hand; saves its title.
        fetched_at: Seconds since the epoch; bounds dates. 0 where it is not known.
        frame: What is known of the site; it learns from the article.
        part: The page is known to be a later part of an article: any text will do.

    >>> text = "今天上午，新能源汽车展览会在市中心开幕。" * 5
    >>> found = extract(f"<title>车展开幕_本地新闻网</title><h1>车展开幕</h1><p>{text}</p>",
    ...                 "http://a.test/20200102/1.html")
    >>> found.title, found.published, found.language
    ('车展开幕', '2020-01-02', 'zh')
    >>> extract("<ul><li><a href=/1>一</a><li><a href=/2>二</a></ul>", "http://a.test/l") is None
    True
    """
    if _is_root(url):
        return None
    reading = _read(sanitize(html), url)
    language = language_of(reading.text)
    raw = find_framed(reading.tree, language, frame) if frame else find_body(reading.tree, language)
    body = frame.clean(raw) if frame else raw
    found = _compose(reading, body, page, fetched_at)
    asked = PART if part else _asked(reading.metadata, found.published)
    if not is_article(body, found.language, asked):
        return None
    if frame is not None:
        frame.observe(raw)
    return found


def is_article(body: Body, language: str, asked: Asked) -> bool:
    """Whether a main text in a language is all that is asked of an article's.

    >>> is_article(Body("短。"), "zh", DATED)
    False
    """
    least = asked.letters * (1 if language in ("zh", "ja") else LATIN)
    letters = len(fold(body.text))
    if letters < least or body.link_share > LINKED:
        return False
    written = sum(len(line) for line in body.text.split("\n") if _PUNCTUATION.search(line))
    listed = asked is not UNDATED and body.sure >= LISTED.sentences and body.link_share < UNLINKED
    if listed and letters >= LISTED.letters:
        return True
    return written >= asked.sentences * len(body.text)


def _asked(metadata: Metadata, published: str) -> Asked:
    said = int(metadata.article) + bool(metadata.dates)
    return (DATED if published else UNDATED, HINTED, STATED)[said]


class _Reading(NamedTuple):
    """A page parsed once."""

    url: str
    tree: LexborHTMLParser
    metadata: Metadata
    text: str  # visible text, one text node a line


def _read(html: str, url: str) -> _Reading:
    tree = parsed(html)
    metadata = read_metadata(tree)  # before the scripts go: JSON-LD is one
    tree.strip_tags(["script", "style", "noscript", "template", "iframe"])
    root = tree.body
    text = root.text(separator="\n", strip=True) if root is not None else ""
    return _Reading(url, tree, metadata, tidy(text))


def _compose(reading: _Reading, body: Body, page: Page | None, fetched_at: float) -> Extracted:
    metadata = reading.metadata
    title = _headline(reading, page)
    root = reading.tree.css_first("html")
    language = language_of(body.text, root.attributes.get("lang") or "" if root else "")
    near = _surroundings(reading.text, title, body.text)
    bylines = "\n".join((*near, *_ends(body.text)))
    return Extracted(
        title=title,
        body=_without_headline(body.text, title),
        published=published(metadata.dates, near, reading.url, language, fetched_at),
        source=(
            metadata.source
            or source_in(bylines)
            or medium_beside_date("\n".join(near))
            or _marked(reading.tree)
            or metadata.publisher
        ),
        author=metadata.author or author_in(bylines),
        language=language,
        images=_images(reading, body),
    )


def _headline(reading: _Reading, page: Page | None) -> str:
    element = reading.tree.css_first("title")
    title = page.title if page is not None else element.text() if element is not None else ""
    headings = [one.text(separator="", strip=True) for one in reading.tree.css("h1, h2")[:20]]
    return headline(reading.metadata.titles, title, headings, reading.metadata.publisher)


def _surroundings(text: str, title: str, body: str) -> tuple[str, ...]:
    """Where dates and bylines stand: between headline and body, before both, after the body."""
    lines = body.split("\n")
    long = [line for line in lines if len(line) >= _PROBE and line not in title] or lines
    first, last = long[0][:_PROBE], lines[-1][-_PROBE:]
    top = text.find(title) if title else -1
    begin = text.find(first, max(top, 0))
    begin = begin if begin >= 0 else max(top, 0) + NEAR
    top = text.rfind(title, 0, begin + 1) if title else -1  # the headline, not a breadcrumb's copy
    top = top if top >= 0 else max(0, begin - NEAR)
    end = text.find(last, begin)
    after = text[end : end + NEAR] if end >= 0 else ""
    return (
        text[top : min(begin + len(first), top + 4 * NEAR)],
        text[max(0, top - NEAR) : top],
        after,
    )


def _ends(body: str) -> tuple[str, str]:
    """First and last line of a body: agencies' credit lines and editors' names stand there."""
    lines = body.split("\n")
    return lines[0][:120], lines[-1][-120:]


def _marked(tree: LexborHTMLParser) -> str:
    """Text of a short element that names itself source."""
    for element in tree.css(_SOURCE_MARKS):
        text = element.text(strip=True)
        if _NAME[0] <= len(text) <= _NAME[1] and not any(map(str.isdigit, text)):
            return source_in(text) or text
    return ""


def _without_headline(body: str, title: str) -> str:
    """The body without a first line that repeats the headline."""
    first, _, rest = body.partition("\n")
    return rest if rest and fold(first) == fold(title) else body


def _images(reading: _Reading, body: Body) -> tuple[str, ...]:
    found = []
    for address in (*body.images, *reading.metadata.images):
        try:
            url = urljoin(reading.url, address.strip())
        except ValueError:  # not an address
            continue
        if url.startswith(("http://", "https://")):
            found.append(url)
    return tuple(dict.fromkeys(found))[:MOST_IMAGES]


def _is_root(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.path in ("", "/") and not parts.query
