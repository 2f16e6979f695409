"""Extraction of the main text of a page.

On Chinese pages the project's density pass is better and several times faster than the libraries.
If its confidence is low, readability-lxml is used as well. Nothing here raises on any input;
docs/extraction.md has the measurements.
"""

from __future__ import annotations

import logging
import re
from collections import Counter, defaultdict
from string import ascii_letters
from typing import TYPE_CHECKING, NamedTuple

import lxml.html
from lxml.etree import LxmlError, _Element, strip_elements

from topiccrawl.extract.blocks import ADDRESSES, BREAKS, Layout, names_of, shorten
from topiccrawl.extract.boilerplate import is_footer
from topiccrawl.extract.density import FOOTER, Choice
from topiccrawl.text.digest import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml.html import HtmlElement
    from selectolax.lexbor import LexborHTMLParser

LONGEST = 2_000_000
"""Most characters of HTML that are read."""

LONGEST_BODY = 400_000
"""Most characters passed to libraries, without scripts and styles. They take seconds for more, and
article pages have about a tenth of it."""

LIBRARY_ERRORS = (
    LxmlError, ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError,
    TypeError, ValueError,
)  # fmt: skip
"""Exceptions of the libraries on broken pages; ``readability.Unparseable`` is a ValueError."""

_ACCEPTED = "\t\n\r -~\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff"
_CLEAN = re.compile(f"[{_ACCEPTED}]*+")
"""Matches nearly all pages, in half the time of a search for other characters."""
_REJECTED = re.compile(f"[^{_ACCEPTED}]")
_REFERENCES = re.compile(
    r"&#(?:0*+(?:[0-8]|1[124-9]|2[0-9]|3[01]|127)|x0*+(?:[0-8bcef]|1[0-9a-f]|7f))(?![0-9a-f]);?",
    re.IGNORECASE,
)
"""References to control characters."""
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_STYLES = re.compile(r"<style\b(?:.*?</style\s*>|.*)", re.IGNORECASE | re.DOTALL)
_HAN = bytes(range(0x34, 0xA0))
"""High bytes of Chinese characters in UTF-16."""
_LATIN = bytes(code if chr(code) in ascii_letters else ord(" ") for code in range(0x100))
"""Table that replaces all characters except Latin letters by blanks."""
_KANA = re.compile(r"[\u3041-\u30ff]+")
_KANA_BYTE = 0x30
"""High byte of kana, and of Chinese punctuation, in UTF-16."""
_SCRIPTS = (
    (re.compile("[\u0400-\u04ff]+"), ("ru", "uk", "bg", "be", "mk", "kk", "mn", "ky", "tg")),
    (re.compile("[\uac00-\ud7af]+"), ("ko",)),
    (re.compile("[\u0600-\u06ff]+"), ("ar", "fa", "ur", "ps")),
    (re.compile("[\u0370-\u03ff]+"), ("el",)),
    (re.compile("[\u0590-\u05ff]+"), ("he", "yi")),
    (re.compile("[\u0900-\u097f]+"), ("hi", "mr", "ne")),
    (re.compile("[\u0980-\u09ff]+"), ("bn", "as")),
    (re.compile("[\u0b80-\u0bff]+"), ("ta",)),
    (re.compile("[\u0c00-\u0c7f]+"), ("te",)),
    (re.compile("[\u0e00-\u0e7f]+"), ("th",)),
)
"""Letters of other scripts and their languages, most widely read language first."""
_FOREIGN = frozenset(
    ("zh", "ja", "cn", "jp", "kr", *(one for _, languages in _SCRIPTS for one in languages))
)
"""Languages of other scripts than Latin; pages also declare countries in their place."""
_CODE = re.compile(r"[a-z]{2}")

# readability logs a traceback of each error that it also raises
logging.getLogger("readability").setLevel(logging.CRITICAL)


class Body(NamedTuple):
    """Main text of a page.

    Attributes:
        text: Text with one paragraph per line, without blank lines.
        link_share: Share of anchor text, in [0, 1].
        images: Image URLs as written, in page order.
        sure: Confidence, in [0, 1].
        box: CSS selector of the containing element, or "".
    """

    text: str
    link_share: float = 0.0
    images: tuple[str, ...] = ()
    sure: float = 1.0
    box: str = ""


CHINESE = ("zh", "ja")
"""Languages in Chinese characters, whose captions are part of the text."""

SURE = 0.35
"""Confidence of the density pass from which readability-lxml is not used."""

SURE_LATIN = 0.8
"""The same for other languages, for which readability-lxml is equally good but slow."""

MOST_LINKED = 0.5
"""Maximum share of anchor text in a body."""

AROUND = 3
"""Lines before and after the text in which images belong to it."""

KANA = 0.3
"""Kana per Chinese character from which a text is Japanese."""

MIN_LEAD = 40
"""Minimum letters of a lead."""

PREFIX = 60
"""Leading letters in which a lead and a description must agree."""

MAX_DISTANCE = 40
"""Most blocks between a lead and the body."""

LEAD_LINKED = 0.2
"""Largest share of anchor text in a lead."""

MIN_REPEATS = 3
"""Occurrences in a body from which a label is boilerplate."""

MAX_LABEL_LENGTH = 40
"""Most characters of a label."""

MAX_LABELS = 2
"""Most distinct repeated labels; more are the labels of a table and are kept."""

SPEAKER = (":", "：")
"""Ends of lines with the name of a speaker, which interviews repeat."""

_FOOTERS = "footer, [class*=foot i], [id*=foot i], [class*=copyright i], [id*=copyright i]"
_BARE = frozenset(("div", "figure", "figcaption", "section", "aside", "article", "main", ""))
"""Parent elements of labels; lines in paragraphs, headings and cells are text."""

NOTHING = Body("", sure=0.0)


def sanitize(html: str) -> str:
    """Cut a page and remove characters that parsers reject.

    Removes XML declarations, control characters, references to them and lone surrogates; keeps
    ``LONGEST`` characters, without styles if there are more.

    >>> sanitize("<p>a&#1;b&#x1F;c&#9;&#19968;")
    '<p>a b c&#9;&#19968;'
    """
    if len(html) > LONGEST:
        html = _STYLES.sub("", html)[:LONGEST]
    if not _CLEAN.fullmatch(html):
        html = _REJECTED.sub(" ", html)
    if "&#" in html:
        html = _REFERENCES.sub(" ", html)
    return _DECLARATION.sub("", html, count=1)


def language_of(text: str, declared: str = "") -> str:
    """Detect the language by the most frequent script; "" for a text without words.

    A Latin word counts as two Chinese characters. Kana distinguish Japanese from Chinese. Among the
    languages of a script, the declared one is used (``<html lang>``), else the most widely read one
    (English for Latin).

    >>> language_of("新能源汽车 BYD 销量"), language_of("News of the day"), language_of("2020")
    ('zh', 'en', '')
    >>> language_of("Notícias do dia", "pt-BR"), language_of("今日のニュースです")
    ('pt', 'ja')
    >>> language_of("import re, sys", "cn"), language_of("import re, sys", "cs")
    ('en', 'cs')
    >>> language_of("Новости дня"), language_of("Новини дня", "uk"), language_of("오늘의 뉴스")
    ('ru', 'uk', 'ko')
    """
    high = text.encode("utf-16-le", "surrogatepass")[1::2]
    chinese = len(high) - len(high.translate(None, _HAN))
    words = text.encode("ascii", "replace").translate(_LATIN).split()
    latin = 2 * sum([len(word) > 1 for word in words])
    primary = declared.split("-", maxsplit=1)[0].strip().lower()
    foreign = len(text) - len(text.encode("ascii", "ignore")) - chinese
    for script, languages in _SCRIPTS if foreign > chinese + latin else ():  # rarely
        if shorten(script, text)[0] > chinese + latin:
            return primary if primary in languages else languages[0]
    if not chinese + latin:
        return ""
    if chinese >= latin:
        least = chinese * KANA
        kana = high.count(_KANA_BYTE) > least and shorten(_KANA, text)[0] > least
        return "ja" if kana else "zh"
    return primary if _CODE.fullmatch(primary) and primary not in _FOREIGN else "en"


def find_body(tree: LexborHTMLParser, language: str, dense: Body) -> Body:
    """Find the main text of a parsed page without scripts; empty if there is none.

    If the confidence of the density pass is below ``SURE`` (``SURE_LATIN`` for languages other than
    Chinese and Japanese), the longer text of the density pass and of readability-lxml is used.
    """
    captions = language in CHINESE
    if dense.sure >= (SURE if captions else SURE_LATIN):
        return dense
    readable = find_readable((tree.html or "")[:LONGEST_BODY], captions=captions)
    return max(dense, NOTHING if _is_of_footer(tree, readable.text) else readable, key=_letters)


def _is_of_footer(tree: LexborHTMLParser, text: str) -> bool:
    """Return whether a text is in a small footer, which is all that a page without text has."""
    own = fold(text)
    boxes = tree.css(_FOOTERS) if len(own) <= FOOTER else ()
    footers = (fold(box.text()) for box in boxes if is_footer(box.tag or "", names_of(box)))
    return any(own in footer and len(footer) <= FOOTER for footer in footers)


def body_of(layout: Layout, choice: Choice) -> Body:
    """Return text and images of the selected blocks."""
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


def _letters(body: Body) -> int:
    return len(body.text) if body.link_share <= MOST_LINKED else 0


def lines_of(element: HtmlElement) -> str:
    r"""Return the text of an element with one block per line, blanks folded, no blank lines.

    >>> lines_of(lxml.html.fromstring("<div><p>一 <b>二</b></p>三<br>四</div>"))
    '一 二\n三\n四'
    """
    for one in element.iter():
        if one.tag in BREAKS:
            one.text = "\n" + (one.text or "")
            one.tail = "\n" + (one.tail or "")
    return tidy(str(element.text_content()))


def tidy(text: str) -> str:
    """Fold and trim blanks in each line, and remove empty lines."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(filter(None, lines))


def find_readable(html: str, *, captions: bool = True) -> Body:
    """Find the body with readability-lxml; empty if it fails."""
    import readability

    try:
        summary = readability.Document(html).summary(html_partial=True)
        return _body_in(lxml.html.fromstring(summary), captions=captions)
    except LIBRARY_ERRORS:
        return NOTHING


def _body_in(element: HtmlElement, *, captions: bool) -> Body:
    strip_elements(element, "select", *([] if captions else ["figcaption"]), with_tail=False)
    linked = sum(_size(a) for a in element.iter("a"))
    images = tuple(filter(None, (_address(image) for image in element.iter("img"))))
    text = lines_of(element)
    size = len("".join(text.split()))
    return Body(text, min(1.0, linked / size) if size else 0.0, images)


def _size(element: _Element) -> int:
    """Return the number of non-blank characters in an element."""
    return sum(len("".join(str(text).split())) for text in element.itertext())


def _address(image: _Element) -> str:
    return next((str(image.get(name)) for name in ADDRESSES if image.get(name)), "")


def with_lead(text: str, layout: Layout, stated: Sequence[str]) -> str:
    """Prepend the lead: a paragraph above the body that matches a description in the metadata.

    Args:
        text: Text of the body.
        layout: Layout of the page.
        stated: Descriptions in the metadata.
    """
    known = [one[:PREFIX] for one in map(fold, stated) if len(one) >= MIN_LEAD]
    first = text.partition("\n")[0]
    begin = next((n for n, one in enumerate(layout.blocks) if one.text == first), 0)
    for block in reversed(layout.blocks[max(0, begin - MAX_DISTANCE) : begin] if known else ()):
        if block.tag == "h1":
            break
        letters = fold(block.text) if block.tag == "p" and block.linked <= LEAD_LINKED else ""
        head = letters[:PREFIX]
        if len(letters) >= MIN_LEAD and any(
            head.startswith(k) or k.startswith(head) for k in known
        ):
            return text if head in fold(text) else f"{block.text}\n{text}"
    return text


def without_labels(text: str, layout: Layout) -> str:
    """Remove repeated short lines outside paragraphs, such as "Advertisement"."""
    lines = text.split("\n")
    times = Counter(
        line for line in lines if len(line) <= MAX_LABEL_LENGTH and line[-1:] not in SPEAKER
    )
    often = {line for line, number in times.items() if number >= MIN_REPEATS}
    if not often:
        return text
    tags: defaultdict[str, set[str]] = defaultdict(set)
    for block in layout.blocks:
        tags[block.text].add(block.tag)
    labels = {line for line in often if tags[line] and tags[line] <= _BARE}
    if len(labels) > MAX_LABELS:
        return text
    return "\n".join(line for line in lines if line not in labels)
