"""Extraction of an article from a page, or of nothing if the page is none."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

from topiccrawl.extract.body import Body, Dense, find_body, find_dense, language_of, sanitize, tidy
from topiccrawl.extract.bylines import author_in, medium_beside_date, source_in
from topiccrawl.extract.dates import marked_day, published
from topiccrawl.extract.frames import FrameTrial, FrameView, SiteFrame, find_framed
from topiccrawl.extract.genres import Genre, genre_of, is_bare
from topiccrawl.extract.leads import with_lead, without_labels
from topiccrawl.extract.metadata import Metadata, read_metadata
from topiccrawl.extract.page_features import PageFacts, page_features
from topiccrawl.extract.titles import headings_of, headline
from topiccrawl.links.limits import parse_html
from topiccrawl.model import Extracted, Page
from topiccrawl.text.digest import fold

if TYPE_CHECKING:
    from collections.abc import Collection

    from selectolax.lexbor import LexborHTMLParser


class Requirements(NamedTuple):
    """Minimum requirements for a main text.

    Attributes:
        letters: Least letters and digits, for Chinese; other languages ``LATIN`` times as many.
        sentences: Least share of the text in lines with a sentence's punctuation.
    """

    letters: int
    sentences: float


STATED = Requirements(60, 0.0)
"""For a page whose metadata names it an article and gives a date: a table is enough."""

HINTED = Requirements(60, 0.2)
"""For a page whose metadata has one of both."""

DATED = Requirements(60, 0.5)
"""For a page with a date near its headline or in its URL."""

UNDATED = Requirements(150, 0.7)
"""For a page without any date: nearly all news have one, channel and topic pages have none."""

PART = Requirements(1, 0.0)
"""For a later page of an article, and a page of another wanted genre."""

JUDGED = Requirements(60, 0.0)
"""For a page whose genre the model judged."""

ARTICLES = frozenset((Genre.ARTICLE, Genre.LIVE))
"""Genres that are stored by default: a live ticker is an article that grows."""

LISTED = Requirements(200, 0.9)
"""Least letters, and least share of the page's sentences, of a dated text without links that may
be a list: a programme, a table of results."""

UNLINKED = 0.05
"""Largest share of anchor text in a list that may be an article."""

LATIN = 3
"""Letters of a Latin text that carry as much as one Chinese character."""

LINKED = 0.5
"""Largest share of anchor text in an article's body."""

NEAR = 600
"""Characters before and after the headline and the body that are searched for dates and bylines."""

MOST_IMAGES = 50

_SOURCE_MARKS = (
    "#media_span, #source_baidu, .source, .a_source, .where, .media, .laiyuan, "
    "[itemprop=publisher], [class*=source]"
)
_NAME = (2, 20)  # shortest and longest name of a source
_ENOUGH = 1_000  # characters of a body in which there are as many letters as count
_PROBE = 20  # letters of a body's line that are searched in the page
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
    """Return the article of a page; None if it is none (hub, gallery, form, error page).

    A page is an article if it is not a host's root, its genre is that of articles
    (``extract.genres``), and its main text is long enough and not mostly links. The genre of a page
    without classes is not known: it also has to be made of sentences, the more the fewer other
    signs of an article there are (``STATED`` to ``UNDATED``). Metadata is preferred to text. Never
    raises. Reads at most ``LONGEST`` characters of a page as ``links.limits`` cuts it, so its time
    is bounded (seconds for hostile pages, 20 to 40 ms for real ones).

    Args:
        html: The decoded page.
        url: The page's URL, for relative addresses and a date in it.
        page: The same page as ``links.page`` read it, if available; gives its title.
        fetched_at: Seconds since the epoch; bounds dates. 0 if it is not known.
        frame: The site's learnt frame; it learns from the article.
        part: The page is known to be a later part of an article: any text is enough.

    >>> text = "今天上午，新能源汽车展览会在市中心开幕。" * 5
    >>> found = extract(f"<title>车展开幕_本地新闻网</title><h1>车展开幕</h1><p>{text}</p>",
    ...                 "http://a.test/20200102/1.html")
    >>> found.title, found.published, found.language
    ('车展开幕', '2020-01-02', 'zh')
    >>> extract("<ul><li><a href=/1>一</a><li><a href=/2>二</a></ul>", "http://a.test/l") is None
    True
    """
    return examine(html, url, page, fetched_at, wanted=None if part else ARTICLES, frame=frame)


def examine(
    html: str,
    url: str,
    page: Page | None = None,
    fetched_at: float = 0.0,
    *,
    wanted: Collection[Genre] | None = ARTICLES,
    frame: SiteFrame | None = None,
) -> Extracted | None:
    """Return what a page of a wanted genre holds; None for other pages and for too little text.

    Args:
        html: The decoded page.
        url: The page's URL.
        page: The same page as ``links.page`` read it, if available.
        fetched_at: Seconds since the epoch; 0 if it is not known.
        wanted: Genres; None: the page is known to be a later part of an article.
        frame: The site's learnt frame; it learns from the page.
    """
    genres = None if wanted is None else frozenset(wanted)
    asked = Conditions(genres, None if frame is None else frame.view(), fetched_at)
    found = extract_by(html, url, page, asked)
    if frame is not None:
        frame.learn(found.trial, found.body)
    return found.extracted


class Conditions(NamedTuple):
    """Conditions of an extraction, besides the page.

    Attributes:
        wanted: Genres of pages; None: the page is known to be a later part of an article, and any
            text is enough.
        frame: The site's learnt frame, or None.
        fetched_at: Seconds since the epoch; bounds dates. 0 if it is not known.
    """

    wanted: frozenset[Genre] | None = ARTICLES
    frame: FrameView | None = None
    fetched_at: float = 0.0


class Extraction(NamedTuple):
    """Result of an extraction: the article, and what the site's frame learns from it.

    Attributes:
        extracted: The article; None if the page is none.
        body: Its body as found, frame included; None if the page is none.
        trial: Use of the frame.
    """

    extracted: Extracted | None = None
    body: Body | None = None
    trial: FrameTrial = FrameTrial()


def extract_by(
    html: str,
    url: str,
    page: Page | None,
    asked: Conditions,
    tree: LexborHTMLParser | None = None,
) -> Extraction:
    """Return what ``examine`` does, without a change to any frame: a pure function.

    ``tree`` is ``parse_html(html)`` where it is there already; it is changed.
    """
    if _is_root(url):
        return Extraction()
    reading = _read(html, url, tree)
    language = language_of(reading.text)
    dense = find_dense(reading.tree, language)
    found = _compose(reading, dense.body, page, asked.fetched_at)
    genre = Genre.ARTICLE if asked.wanted is None else _genre(reading, dense, found)
    if asked.wanted is not None and genre not in asked.wanted:
        return Extraction()
    trial = FrameTrial()
    if asked.frame is None:
        raw = body = find_body(reading.tree, language, dense.body)
    else:
        raw, trial = find_framed(reading.tree, language, asked.frame, dense.body)
        body = asked.frame.clean(raw, trial)
    if body is not dense.body:
        found = _compose(reading, body, page, asked.fetched_at)
    part = asked.wanted is None or genre not in ARTICLES
    if not is_article(body, found.language, PART if part else _asked(reading, dense, found)):
        return Extraction(trial=trial)
    tag = _tag(_declared(reading), found.language)
    dated = found.published or marked_day(reading.tree, found.body[:NEAR], tag, asked.fetched_at)
    whole = found.body
    if not part:
        whole = with_lead(whole, dense.layout, reading.metadata.leads)
        whole = without_labels(whole, dense.layout)
    return Extraction(replace(found, body=whole, genre=genre, published=dated), raw, trial)


def page_features_of(html: str, url: str) -> dict[str, float]:
    """Return the signs of a page's genre, on which the model of genres is trained."""
    reading = _read(html, url)
    dense = find_dense(reading.tree, language_of(reading.text))
    found = _compose(reading, dense.body, None, 0.0)
    return page_features(
        dense.layout, dense.choice.blocks, reading.metadata, _facts(reading, found)
    )


def _genre(reading: _Reading, dense: Dense, found: Extracted) -> Genre:
    return genre_of(dense.layout, dense.choice.blocks, reading.metadata, _facts(reading, found))


def _facts(reading: _Reading, found: Extracted) -> PageFacts:
    element = reading.tree.css_first("title")
    window = element.text() if element is not None else ""
    return PageFacts(reading.url, found.title, window, bool(found.published), bool(found.author))


def is_article(body: Body, language: str, asked: Requirements) -> bool:
    """Return whether a main text meets the requirements for an article in its language.

    >>> is_article(Body("短。"), "zh", DATED)
    False
    """
    least = asked.letters * (1 if language in ("zh", "ja", "ko") else LATIN)
    letters = len(fold(body.text[:_ENOUGH]))
    if letters < LISTED.letters:  # a short text, or one of hardly any letters
        letters = len(fold(body.text))
    if letters < least or body.link_share > LINKED:
        return False
    written = sum(len(line) for line in body.text.split("\n") if _PUNCTUATION.search(line))
    listed = asked is not UNDATED and body.sure >= LISTED.sentences and body.link_share < UNLINKED
    if listed and letters >= LISTED.letters:
        return True
    return written >= asked.sentences * len(body.text)


def _asked(reading: _Reading, dense: Dense, found: Extracted) -> Requirements:
    """Return the requirements for an article; the model judges no bare pages."""
    if not is_bare(dense.layout):
        return JUDGED
    said = int(reading.metadata.article) + bool(reading.metadata.dates)
    return (DATED if found.published else UNDATED, HINTED, STATED)[said]


class _Reading(NamedTuple):
    """A page parsed once."""

    url: str
    tree: LexborHTMLParser
    metadata: Metadata
    text: str  # visible text, one text node a line


def _read(html: str, url: str, tree: LexborHTMLParser | None = None) -> _Reading:
    clean = sanitize(html)
    if tree is None or clean != html:
        tree = parse_html(clean)
    metadata = read_metadata(tree)  # before the scripts go: JSON-LD is one
    tree.strip_tags(["script", "style", "noscript", "template", "iframe"])
    root = tree.body
    text = root.text(separator="\n", strip=True) if root is not None else ""
    return _Reading(url, tree, metadata, tidy(text))


def _compose(reading: _Reading, body: Body, page: Page | None, fetched_at: float) -> Extracted:
    metadata = reading.metadata
    title = _headline(reading, page)
    declared = _declared(reading)
    language = language_of(body.text, declared)
    near = _surroundings(reading.text, title, body.text)
    bylines = "\n".join((*near, *_ends(body.text)))
    return Extracted(
        title=title,
        body=_without_headline(body.text, title),
        published=published(
            metadata.dates, near, reading.url, _tag(declared, language), fetched_at, title
        ),
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


def _declared(reading: _Reading) -> str:
    """Return the language that a page declares, the first of several; "" where it does not."""
    root = reading.tree.css_first("html")
    declared = (root.attributes.get("lang") or "") if root else ""
    return (declared or reading.metadata.language).partition(",")[0].strip().replace("_", "-")


def _tag(declared: str, language: str) -> str:
    """Return the declared language with its country if the text is in it, else the text's."""
    return declared if declared.lower().startswith(language) else language


def _headline(reading: _Reading, page: Page | None) -> str:
    element = reading.tree.css_first("title")
    title = page.title if page is not None else element.text() if element is not None else ""
    known = reading.metadata
    headings, h1 = headings_of(reading.tree, known.titles, title)
    return headline(known.titles, title, headings, known.publisher, h1)


def _surroundings(text: str, title: str, body: str) -> tuple[str, ...]:
    """Return the texts between headline and body, before both, and after the body.

    Dates and bylines are there.
    """
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
    """Return first and last line of a body: they hold agencies' credits and editors' names."""
    lines = body.split("\n")
    return lines[0][:120], lines[-1][-120:]


def _marked(tree: LexborHTMLParser) -> str:
    """Return the text of a short element that is marked as the source, or ""."""
    for element in tree.css(_SOURCE_MARKS):
        text = element.text(strip=True)
        if _NAME[0] <= len(text) <= _NAME[1] and not any(map(str.isdigit, text)):
            return source_in(text) or text
    return ""


def _without_headline(body: str, title: str) -> str:
    """Return the body without a first line that repeats the headline."""
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
