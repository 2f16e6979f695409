"""Extraction of the article of a page."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from topiccrawl.extract.blocks import Layout, lay_out
from topiccrawl.extract.body import (
    CHINESE,
    Body,
    body_of,
    find_body,
    language_of,
    sanitize,
    tidy,
    with_lead,
    without_labels,
)
from topiccrawl.extract.boilerplate import is_boilerplate
from topiccrawl.extract.bylines import (
    author_in,
    is_byline,
    is_medium,
    marked_author,
    medium_near_date,
    source_in,
)
from topiccrawl.extract.dates import marked_day, published, scripted_day
from topiccrawl.extract.density import choose
from topiccrawl.extract.frames import FrameTrial, FrameView, find_framed
from topiccrawl.extract.genres import Genre, genre_of, is_bare
from topiccrawl.extract.metadata import Metadata, read_metadata
from topiccrawl.extract.page_features import ParsedPage, features
from topiccrawl.extract.titles import headings_of, headline, shown_headline
from topiccrawl.links.limits import parse_html
from topiccrawl.links.urls import is_home
from topiccrawl.model import Extracted, Page
from topiccrawl.text.digest import fold

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

    from topiccrawl.text.measure import Measures


ARTICLES = frozenset((Genre.ARTICLE, Genre.LIVE))
"""Genres stored by default; a live ticker is an article that is extended."""

SHORTEST = 60
"""Minimum letters and digits of an article in Chinese, Japanese or Korean."""

UNDATED = 150
"""The same for a page without class names, date and article type: error pages are shorter."""

SENTENCES = 0.5
"""Minimum share of the text of such a page in lines with sentences: tables and forms have few."""

LATIN = 3
"""Latin letters that correspond to one Chinese character."""

LINKED = 0.5
"""Maximum share of anchor text in the body of an article."""

NEAR = 600
"""Characters before and after the headline and the body that are searched for dates and bylines."""

MOST_IMAGES = 50

_DIALOGS = "body :is(dialog, [role=dialog], [role=alertdialog])"
_MOST_DIALOGS = 20
"""Most dialogs that are looked at; each is searched for the content of the page."""
_MOST_FALLBACKS = 20
"""Most ``noscript`` elements that are looked at."""
_NOSCRIPT = re.compile(r"</?noscript\b[^<>]*>", re.IGNORECASE)
_MOST_POSTS = 20
"""Most embedded posts that are left out of the texts with dates and bylines."""
_LONGEST_POST = 500
"""Most letters of an embedded post; a longer quotation may be the article of another site."""

_SOURCE_MARKS = (
    "#media_span, #source_baidu, .source, .a_source, .where, .media, .laiyuan, "
    "[itemprop=publisher], [class*=source]"
)
_NAME = (2, 20)  # minimum and maximum length of a source name
_ENOUGH = 1_000  # characters of a body that suffice to count letters
_SHORT_LINE = 50  # most characters of a first line of a body that is searched for a date
_SENTENCE_ENDS = tuple("。！？!?；…”")
_HEAD_LINES = 4  # most first lines of a body that are examined for headline, byline and time
_PROBE_LENGTH = 20  # letters of a body line that are searched in the page
_DAY = re.compile(r"\d{1,2}\.? [^\W\d]{3,12}\.?|[^\W\d]{3,12}\.? \d{1,2}")  # without a year
_SENTENCE = re.compile(r"[。！？；…”!?]|[.;](?=\s|$)")


class Conditions(NamedTuple):
    """Options of an extraction.

    Attributes:
        wanted: Genres of pages; None if the page is a later page of an article, for which any text
            is accepted.
        frame: Learned frame of the site, or None.
        fetched_at: Seconds since the epoch; limits dates. 0 if unknown.
    """

    wanted: frozenset[Genre] | None = ARTICLES
    frame: FrameView | None = None
    fetched_at: float = 0.0


class Extraction(NamedTuple):
    """Result of an extraction: the article, and data for the site's frame.

    Attributes:
        extracted: The article, or None.
        body: Body of the article with repeated lines; None if there is none, or no frame was given.
        trial: Result of using the frame.
        measures: Measures of the article for each vocabulary of the request.
    """

    extracted: Extracted | None = None
    body: Body | None = None
    trial: FrameTrial = FrameTrial()
    measures: tuple[Measures, ...] = ()


def extract(
    html: str, url: str, page: Page | None = None, fetched_at: float = 0.0
) -> Extracted | None:
    """Extract the article of a page; return None for other pages (hub, gallery, form, error page).

    A page is an article if it is not the root of a host, its genre is an article genre
    (``extract.genres``), and its main text is long enough and not mostly links. The genre of a page
    without class names is unknown: without date and article type, it must consist of sentences.
    Metadata is preferred to text. Never raises. At most ``LONGEST`` characters are read, after
    ``links.limits``, so time is bounded: seconds for hostile pages, 20 to 40 ms for real pages.

    Args:
        html: The decoded page.
        url: The page's URL, for relative addresses and a date in it.
        page: Result of ``links.page`` for the same page, if available; gives the title.
        fetched_at: Seconds since the epoch; limits dates. 0 if unknown.

    >>> text = "今天上午，新能源汽车展览会在市中心开幕。" * 5
    >>> found = extract(f"<title>车展开幕_本地新闻网</title><h1>车展开幕</h1><p>{text}</p>",
    ...                 "http://a.test/20200102/1.html")
    >>> found.title, found.published, found.language
    ('车展开幕', '2020-01-02', 'zh')
    >>> extract("<ul><li><a href=/1>一</a><li><a href=/2>二</a></ul>", "http://a.test/l") is None
    True
    """
    return extract_by(html, url, page, Conditions(fetched_at=fetched_at)).extracted


def extract_by(
    html: str,
    url: str,
    page: Page | None,
    options: Conditions,
    tree: LexborHTMLParser | None = None,
) -> Extraction:
    """Extract as ``extract`` does, under conditions; has no side effects on frames.

    ``tree`` is the result of ``parse_html(html)``, if available; it is modified.
    """
    if is_home(url):
        return Extraction()
    parsed = parse_page(html, url, page, tree)
    dense = body_of(parsed.layout, parsed.choice)
    found = _compose(parsed, dense, options.fetched_at)
    genre = Genre.ARTICLE if options.wanted is None else genre_of(parsed, found)
    if options.wanted is not None and genre not in options.wanted:
        return Extraction()
    trial = FrameTrial()
    raw: Body | None = None
    if options.frame is None:
        body = find_body(parsed.tree, parsed.language, dense)
    else:
        raw, trial = find_framed(parsed.tree, parsed.language, options.frame, dense)
        body = options.frame.clean(raw, trial)
    if body is not dense:
        found = _compose(parsed, body, options.fetched_at)
    part = options.wanted is None or genre not in ARTICLES
    vague = not (part or found.published or parsed.metadata.article) and is_bare(parsed.layout)
    shortest = 1 if part else UNDATED if vague else SHORTEST
    own = body._replace(text=found.body)
    if not is_article(own, found.language, shortest) or (vague and not _is_prose(body.text)):
        return Extraction(trial=trial)
    tag = _tag(parsed.declared, found.language)
    dated = (
        found.published
        or marked_day(parsed.tree, found.body[:NEAR], tag, options.fetched_at)
        or scripted_day(html, tag, options.fetched_at)
    )
    whole = found.body
    if not part:
        whole = with_lead(whole, parsed.layout, parsed.metadata.leads)
        whole = without_labels(whole, parsed.layout)
    return Extraction(replace(found, body=whole, genre=genre, published=dated), raw, trial)


def features_of(html: str, url: str) -> dict[str, float]:
    """Return the features of a page, on which the genre model is trained."""
    page = parse_page(html, url)
    return features(page, _compose(page, body_of(page.layout, page.choice), 0.0))


def is_article(body: Body, language: str, shortest: int = SHORTEST) -> bool:
    """Return whether a main text has enough letters for its language and is not mostly links.

    >>> is_article(Body("短。"), "zh")
    False
    """
    minimum = shortest * (1 if language in ("zh", "ja", "ko") else LATIN)
    return len(fold(body.text[:_ENOUGH])) >= minimum and body.link_share <= LINKED


def _is_prose(text: str) -> bool:
    """Return whether a text consists of lines with sentences."""
    sentences = sum(len(line) for line in text.split("\n") if _SENTENCE.search(line))
    return sentences >= SENTENCES * len(text)


def parse_page(
    html: str, url: str, page: Page | None = None, tree: LexborHTMLParser | None = None
) -> ParsedPage:
    """Parse a page and find its densest text; see ``extract_by`` for the arguments.

    A page without article outside of ``noscript`` is parsed as for readers without scripts.
    """
    clean = sanitize(html)
    if tree is None or clean != html:
        tree = parse_html(clean)
    metadata = read_metadata(tree)  # before scripts are removed, since JSON-LD is a script
    hidden = any(one.css_first("p") for one in tree.css("noscript")[:_MOST_FALLBACKS])
    _strip(tree)
    body = tree.body
    text = body.text(separator="\n", strip=True, skip_empty=True) if body is not None else ""
    for post in tree.css("blockquote[cite]")[:_MOST_POSTS]:
        quoted = post.text(separator="\n", strip=True, skip_empty=True)
        if len(quoted) <= _LONGEST_POST and "\n" in quoted:
            text = text.replace(quoted, "")
    text = tidy(text)
    language = language_of(text)
    layout = lay_out(body) if body is not None else Layout((), ())
    choice = choose(layout, captions=language in CHINESE)
    if hidden and not is_article(body_of(layout, choice), language):
        return parse_page(_NOSCRIPT.sub("", clean), url, page)
    element = tree.css_first("title")
    window = element.text() if element is not None else ""
    title = sanitize(page.title) if page is not None else window
    headings, h1 = headings_of(tree, metadata.titles, title)
    best = headline(metadata.titles, title, headings, metadata.publisher, h1)
    stated = (*headings, *metadata.titles[0], *metadata.titles[1])
    if choice.blocks and not any(fold(best) in fold(one) for one in stated):
        best = shown_headline(best, layout.blocks[: choice.blocks[0]])
    declared = _declared(tree, metadata)
    return ParsedPage(
        url, tree, metadata, text, window, best, declared, language, layout, choice
    )  # fmt: skip


def _strip(tree: LexborHTMLParser) -> None:
    """Remove scripts, frames and dialogs, which ask for consent or for a login, from a page.

    A dialog with a page's content stays: some are not closed.
    """
    tree.strip_tags(["script", "style", "noscript", "template", "iframe"])
    for dialog in tree.css(_DIALOGS)[:_MOST_DIALOGS]:
        if dialog.css_first("h1, article, main") is None:
            dialog.replace_with("")  # decompose() would free dialogs in it, which follow


def _declared(tree: LexborHTMLParser, metadata: Metadata) -> str:
    declared = (tree.root.attributes.get("lang") if tree.root is not None else "") or ""
    return (declared or metadata.language).partition(",")[0].strip().replace("_", "-")


def _tag(declared: str, language: str) -> str:
    """Return the declared language tag if the text has this language, else the text's language."""
    return declared if declared.lower().startswith(language) else language


def _compose(page: ParsedPage, body: Body, fetched_at: float) -> Extracted:
    metadata, title = page.metadata, page.headline
    language = language_of(body.text, page.declared)
    tag = _tag(page.declared, language)
    near = _nearby_texts(page.text, title, body.text)
    lines = body.text.split("\n")  # the first and the last may have credits and names of editors
    bylines = "\n。\n".join((*near, body.text[:120], lines[-1][-120:]))
    return Extracted(
        title=title,
        body=_without_head(body.text, title, tag),
        published=published(metadata.dates, near, page.url, tag, fetched_at, title),
        source=(
            source_in(metadata.source)
            or metadata.source
            or source_in(bylines)
            or medium_near_date("\n".join(near))
            or _marked_source(page.tree)
            or metadata.publisher
        ),
        author=_author(page, bylines),
        language=language,
        images=_images(page, body),
    )


def _author(page: ParsedPage, bylines: str) -> str:
    """Return the author in the metadata; a byline is preferred to the name of a site or medium."""
    stated = author_in(page.metadata.author) or page.metadata.author
    others = page.window.replace(page.headline, ""), page.metadata.publisher
    site = is_medium(stated) or any(fold(stated) in fold(one) for one in others)
    named = "" if site else stated
    return named or author_in(bylines) or marked_author(page.tree) or stated


def _nearby_texts(text: str, title: str, body: str) -> tuple[str, ...]:
    """Return the texts between headline and body, before both, and after the body.

    These texts contain dates and bylines.
    """
    lines = body.split("\n")
    long = [line for line in lines if len(line) >= _PROBE_LENGTH and line not in title] or lines
    first, last = long[0][:_PROBE_LENGTH], lines[-1][-_PROBE_LENGTH:]
    top = text.find(title) if title else -1
    begin = text.find(first, max(top, 0))
    shown = len(long[0]) if len(long[0]) <= _SHORT_LINE else 0  # a short line may be a date
    begin = begin if begin >= 0 else max(top, 0) + NEAR
    top = text.rfind(title, 0, begin + 1) if title else -1  # the headline, not a breadcrumb's copy
    top = top if top >= 0 else max(0, begin - NEAR)
    end = text.find(last, begin)
    after = text[end : end + NEAR] if end >= 0 else ""
    return (
        text[top : min(begin + shown, top + 4 * NEAR)],
        text[max(0, top - NEAR) : top],
        after,
    )


def _marked_source(tree: LexborHTMLParser) -> str:
    """Return the text of a short element marked as the source, or ""."""
    for element in tree.css(_SOURCE_MARKS):
        text = element.text(strip=True)
        if _NAME[0] <= len(text) <= _NAME[1] and not any(map(str.isdigit, text)):
            name = source_in(text) or text.strip(" \xa0·⋅|")
            if not is_boilerplate(name):
                return name
    return ""


def _without_head(body: str, title: str, tag: str) -> str:
    """Remove the first lines of a body that repeat the headline, or are a byline or a time."""
    lines = body.split("\n")
    above = lines[0].removesuffix(title).strip()  # some themes put the day into the heading
    start = int(fold(lines[0]) == fold(title) or (above != lines[0] and _is_credit(above, tag)))
    while start < min(_HEAD_LINES, len(lines) - 1) and _is_credit(lines[start], tag):
        start += 1
    return "\n".join(lines[start:])


def _is_credit(line: str, tag: str) -> bool:
    if len(line) > _SHORT_LINE or line.endswith(_SENTENCE_ENDS):
        return False
    whole = f"{line} 2000" if _DAY.fullmatch(line) else line
    return bool(is_byline(line) or published((), [whole], "", tag))


def _images(page: ParsedPage, body: Body) -> tuple[str, ...]:
    found = []
    for address in (*body.images, *page.metadata.images):
        try:
            url = urljoin(page.url, address.strip())
        except ValueError:  # not an address
            continue
        if url.startswith(("http://", "https://")):
            found.append(url)
    return tuple(dict.fromkeys(found))[:MOST_IMAGES]
