"""The main text of a page, and how much of it is links.

Our own density pass, which on Chinese pages is better and several times faster than the libraries;
where it is unsure, readability-lxml on Chinese pages and trafilatura on others. Nothing here raises
on any input; docs/extraction.md has the figures.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, NamedTuple

import lxml.html
from lxml.etree import LxmlError

from topiccrawl.news.blocks import Layout, lay_out, letters
from topiccrawl.news.density import choose

if TYPE_CHECKING:
    from lxml.etree import _Element
    from lxml.html import HtmlElement
    from selectolax.lexbor import LexborHTMLParser

    from topiccrawl.news.density import Choice

LONGEST = 2_000_000
"""Characters of HTML looked at; what a longer page has besides is not read."""

LONGEST_BODY = 400_000
"""Characters a body is looked for in, scripts and styles out: the libraries take seconds for more,
and an article page has a tenth of it."""

# fmt: off
BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "br", "caption", "center", "dd", "div", "dl",
    "dt", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
    "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tbody", "td", "th", "thead",
    "tr", "ul",
))
# fmt: on
"""Elements that end a line."""

LIBRARY_ERRORS = (
    LxmlError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What the libraries raise on broken pages; ``readability.Unparseable`` is a ValueError."""

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_BLANKS = re.compile(r"[^\S\n]+")
_CJK = re.compile(r"[\u3400-\u9fff]+")
_KANA = re.compile(r"[\u3041-\u30ff]+")
_CODE = re.compile(r"[a-z]{2}")
_LATIN = re.compile(r"[A-Za-z]{2,}")

# readability logs with a traceback what it also raises
logging.getLogger("readability").setLevel(logging.CRITICAL)


class Body(NamedTuple):
    """A main text as a library found it.

    Attributes:
        text: One paragraph a line, no blank lines.
        link_share: Share of its characters that are anchor text, in [0, 1].
        images: Image addresses in it as written, page order.
        sure: How sure its finder is, in [0, 1].
        box: CSS selector of the element that held it, "" where none names it.
    """

    text: str
    link_share: float = 0.0
    images: tuple[str, ...] = ()
    sure: float = 1.0
    box: str = ""


SURE = 0.35
"""Share of a page's sentences from which the density pass needs no second opinion."""

SURE_LATIN = 0.8
"""The same for other languages, where trafilatura is good and slow."""

MOST_LINKED = 0.5
"""Share of anchor text above which a text is no body."""

AROUND = 3
"""Lines before and after the text where an image may belong to it."""

KANA = 0.3
"""Kana for each Chinese character from which a text is Japanese."""

NOTHING = Body("", sure=0.0)


def sanitize(html: str) -> str:
    """The part of a page that is looked at, without what parsers refuse.

    XML declarations, control characters and lone surrogates go; ``LONGEST`` characters stay.
    """
    return _DECLARATION.sub("", _CONTROL.sub(" ", html[:LONGEST]), count=1)


def language_of(text: str, declared: str = "") -> str:
    """Language by which script carries more words, "" for a text without any.

    A Latin word counts as two Chinese characters. Kana tell Japanese from Chinese; which language
    a Latin text is in, the page has to declare (``<html lang>``), else it is taken for English.

    >>> language_of("新能源汽车 BYD 销量"), language_of("News of the day"), language_of("2020")
    ('zh', 'en', '')
    >>> language_of("Notícias do dia", "pt-BR"), language_of("今日のニュースです")
    ('pt', 'ja')
    """
    chinese, latin = letters(_CJK, text), 2 * len(_LATIN.findall(text))
    if not chinese + latin:
        return ""
    if chinese >= latin:
        return "ja" if letters(_KANA, text) > chinese * KANA else "zh"
    primary = declared.split("-", maxsplit=1)[0].strip().lower()
    return primary if _CODE.fullmatch(primary) and primary not in ("zh", "ja") else "en"


def find_body(tree: LexborHTMLParser, language: str) -> Body:
    """The main text of a parsed page without scripts; empty where there is none.

    Takes the surest finder for the language and asks the next one where it finds nothing or is
    not ``SURE``.
    """
    if language in ("zh", "ja"):
        dense = find_dense(tree)
        return dense if dense.sure >= SURE else max(dense, _readable(tree), key=_letters)
    dense = find_dense(tree, captions=False)
    if dense.sure >= SURE_LATIN:
        return dense
    body = _by_trafilatura(_html(tree))
    return body if body.text else dense


def find_dense(tree: LexborHTMLParser, *, captions: bool = True) -> Body:
    """What our density pass finds; empty where it finds nothing."""
    layout = lay_out(tree.body) if tree.body is not None else Layout((), ())
    return body_of(layout, choose(layout, captions=captions))


def body_of(layout: Layout, choice: Choice) -> Body:
    """The text and the images of a choice."""
    if not choice.blocks:
        return NOTHING
    first, last = choice.blocks[0], choice.blocks[-1]
    box = layout.boxes[choice.box]
    images = [
        address
        for place, address in layout.images
        if max(box.begin, first - AROUND) <= place <= min(box.end, last + AROUND)
    ]
    text = "\n".join(layout.blocks[number].text for number in choice.blocks)
    return Body(text, choice.linked, tuple(images), choice.share, layout.selector(choice.box))


def _readable(tree: LexborHTMLParser) -> Body:
    return find_readable(_html(tree))


def _html(tree: LexborHTMLParser) -> str:
    return (tree.html or "")[:LONGEST_BODY]


def _letters(body: Body) -> int:
    return len(body.text) if body.link_share <= MOST_LINKED else 0


def find_readable(html: str) -> Body:
    """What readability-lxml finds; empty where it fails."""
    try:
        return _by_readability(html)
    except LIBRARY_ERRORS:
        return NOTHING


def lines_of(element: HtmlElement) -> str:
    r"""Text of an element, one block a line, blanks folded, no blank lines.

    >>> lines_of(lxml.html.fromstring("<div><p>一 <b>二</b></p>三<br>四</div>"))
    '一 二\n三\n四'
    """
    for one in element.iter():
        if one.tag in BLOCKS:
            one.text = "\n" + (one.text or "")
            one.tail = "\n" + (one.tail or "")
    return tidy(str(element.text_content()))


def tidy(text: str) -> str:
    """Lines with blanks folded and trimmed; empty ones go."""
    lines = (_BLANKS.sub(" ", line).strip() for line in text.split("\n"))
    return "\n".join(filter(None, lines))


def _by_readability(html: str) -> Body:
    import readability

    summary = readability.Document(html).summary(html_partial=True)
    element = lxml.html.fromstring(summary)
    linked = sum(_size(a) for a in element.iter("a"))
    images = tuple(filter(None, (_address(image) for image in element.iter("img"))))
    text = lines_of(element)
    size = len("".join(text.split()))
    return Body(text, min(1.0, linked / size) if size else 0.0, images)


def _by_trafilatura(html: str) -> Body:
    import trafilatura

    try:
        text = trafilatura.extract(html, include_comments=False, include_tables=True)
    except LIBRARY_ERRORS:
        return NOTHING
    return Body(tidy(text or ""))


def _size(element: _Element) -> int:
    """Characters of an element's text, blanks out."""
    return sum(len("".join(str(text).split())) for text in element.itertext())


def _address(image: _Element) -> str:
    names = ("data-original", "data-src", "src")  # lazy loading keeps the real one beside
    return next((str(image.get(name)) for name in names if image.get(name)), "")
