"""Bytes to text: detection of the encoding from header, page and bytes.

Order [S1; methods section 7]: byte order mark; bytes that are UTF-8 beyond chance, whatever is
declared; the declared encodings (header, then ``<meta>`` or XML declaration in the first
``HEAD_LINES`` lines) if the bytes agree; then the candidate that fits best. Chinese servers often
declare a wrong encoding, so a Latin declaration over Chinese bytes, or one Chinese encoding over
the bytes of another, is only a hint. ``gb2312`` and ``gbk`` are read as GB18030 and ``big5`` as
Big5-HKSCS, their supersets. A few bad bytes cost a few characters, never the page. Undeclared bytes
that fit nothing are GB18030 [S1: a default of GBK].

The fit of an encoding is the share of everyday characters in a sample of the text's characters
beyond ASCII: about .97 for Chinese in the right encoding, .3 to .6 in a wrong one.
"""

from __future__ import annotations

import codecs
import re
from functools import cache
from itertools import islice
from typing import NamedTuple

from charset_normalizer import from_bytes

HEAD_LINES = 100
"""Lines that are searched for a declaration of the encoding [S1]; at most ``HEAD_BYTES``."""

HEAD_BYTES = 65_536

DEFAULT = "gb18030"

FITS = 0.75
"""Share of everyday characters from which a Chinese decoding is accepted without comparison."""

HOPELESS = 0.5
"""Share below which charset-normalizer is used, which knows more languages."""

_SAMPLE_RUNS = 300
_SAMPLE_CHARS = 2_000
_CHUNK = 4_096
_SAMPLE_BYTES = 16_384
_LONGEST_CHARACTER = 4

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SUPERSETS = {
    **dict.fromkeys(("gb2312", "gbk", "x-gbk", "gb_2312-80", "cp936", "chinese"), "gb18030"),
    **dict.fromkeys(("big5", "big5-hkscs", "x-x-big5", "big5-tw", "cp950"), "big5hkscs"),
    **dict.fromkeys(("iso-8859-1", "latin1", "latin-1", "ascii", "us-ascii"), "cp1252"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis"), "cp932"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987"), "cp949"),
    **dict.fromkeys(("unicode-1-1-utf-8", "unicode", "utf"), "utf-8"),
    "hz-gb-2312": "hz",
}
_CHINESE = frozenset({"gb18030", "big5hkscs"})
_LATIN = frozenset({"cp1252", "iso8859-15"})
_SEVEN_BIT = frozenset({"hz", "iso2022_jp"})
_KNOWN = frozenset(
    {"utf-8", "cp932", "cp949", "euc_jp", "koi8-r", "koi8-u", "cp866", "cp874", "mac-roman"}
    | {f"iso8859-{part}" for part in range(2, 17)}
    | {f"cp{page}" for page in range(1250, 1259)}
    | _CHINESE
    | _LATIN
    | _SEVEN_BIT
)
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)
_WIDE_TAG = re.compile(rb"<\x00|\x00<")
_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_PAIRS = re.compile(rb"(?:[\x81-\xfe][\x40-\x7e\x80-\xfe]){3,}")
_LONG_SEQUENCE = re.compile(rb"[\xe0-\xf4]")
_ASCII = bytes(range(0x80))


class Decoded(NamedTuple):
    """A decoded page.

    Attributes:
        text: Its text, without byte order mark.
        encoding: Python's name of the encoding that was used.
        how: Source of the encoding: ``bom``, ``header``, ``meta``, ``bytes`` (undeclared UTF-8 or
            UTF-16), ``detected`` or ``default``.
    """

    text: str
    encoding: str
    how: str


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """Return the text of a page, whatever its bytes are; never raises.

    Args:
        body: The page as served, decompressed.
        content_type: The Content-Type header.

    >>> decode("新闻".encode("gbk"), "text/html; charset=gb2312")
    Decoded(text='新闻', encoding='gb18030', how='header')
    >>> decode("新闻中心".encode(), "text/html; charset=gbk").encoding
    'utf-8'
    """
    for mark, name in _BOMS:
        if body.startswith(mark):
            return Decoded(body[len(mark) :].decode(name, "replace"), name, "bom")
    if name := _utf_16(body):
        return Decoded(body.decode(name, "replace"), name, "bytes")
    declared = _declared(body, content_type)
    return (
        _as_utf_8(body, declared)
        or _as_declared(body, declared)
        or _best(body, declared)
        or Decoded(body.decode(DEFAULT, "replace"), DEFAULT, "default")
    )


def _declared(body: bytes, content_type: str | None) -> dict[str, str]:
    """Return the known encodings that header and page declare, each with its source."""
    found: list[tuple[str, str]] = []
    if match := _HEADER.search(content_type or ""):
        found.append((match[1], "header"))
    head = b"\n".join(body[:HEAD_BYTES].split(b"\n", HEAD_LINES)[:HEAD_LINES])
    matches = (_META.search(head), _XML.match(head))
    found += [(match[1].decode("ascii", "replace"), "meta") for match in matches if match]
    known = [(name, who) for label, who in found if (name := _codec(label))]
    return dict(reversed(known))


@cache
def _common() -> frozenset[str]:
    """Return everyday characters: punctuation and first level of GB 2312, the same of Big5."""
    gb = ((0xA1, 0xA4), (0xB0, 0xD8))
    pairs = [bytes((a, b)) for low, high in gb for a in range(low, high) for b in range(0xA1, 0xFF)]
    trails = (*range(0x40, 0x7F), *range(0xA1, 0xFF))
    other = [bytes((a, b)) for a in range(0xA1, 0xC6) for b in trails]
    text = b"".join(pairs).decode("gb2312", "ignore") + b"".join(other).decode("big5", "ignore")
    return frozenset(text) | frozenset("·—€©®")


def _codec(label: str) -> str:
    """Return Python's name of the encoding to use for a label, or "" if it is unknown."""
    label = label.strip().lower()
    if label in _SUPERSETS:
        return _SUPERSETS[label]
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return ""
    name = _SUPERSETS.get(name, name)
    return name if name in _KNOWN else ""


def _utf_16(body: bytes) -> str:
    """Return the UTF-16 of markup without byte order mark, by the zero bytes of ASCII; or ""."""
    head = body[:256]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) * 4 < len(head) or min(even, odd) or not _WIDE_TAG.search(head):
        return ""
    return "utf-16-le" if odd else "utf-16-be"


def _as_utf_8(body: bytes, declared: dict[str, str]) -> Decoded | None:
    """Return the page as UTF-8 if its bytes are, and no declaration can mean something else."""
    if (text := _strict(body, "utf-8")) is None:
        return None
    others = [name for name in declared if name != "utf-8"]
    if text.isascii():
        if seven := [name for name in others if name in _SEVEN_BIT]:
            return Decoded(body.decode(seven[0], "replace"), seven[0], declared[seven[0]])
    elif others and "utf-8" not in declared and not _surely_utf_8(body):
        return None
    return Decoded(text, "utf-8", declared.get("utf-8", "bytes"))


def _surely_utf_8(body: bytes) -> bool:
    """Return whether valid UTF-8 can't be a double-byte encoding by chance.

    Chinese in UTF-8 has sequences of three bytes, and Latin text has single letters of two; two or
    more GBK characters in a row may look like the latter, but have neither.
    """
    if _LONG_SEQUENCE.search(body):
        return True
    return all(len(run[0]) == 2 for run in islice(_HIGH_RUN.finditer(body), _SAMPLE_RUNS))  # noqa: PLR2004


def _as_declared(body: bytes, declared: dict[str, str]) -> Decoded | None:
    """Return the page in the first declared encoding with which its bytes agree."""
    for name, who in declared.items():
        if (text := _strict(body, name)) is not None and _agrees(body, text, name):
            return Decoded(text, name, who)
    return None


def _agrees(body: bytes, text: str, name: str) -> bool:
    """Return whether a decoding without errors is also credible.

    Latin-1 decodes anything and is a common default of servers; Chinese encodings decode each
    other's bytes. Other encodings are not declared by mistake.
    """
    if name in _LATIN:
        return _is_latin(body)
    return name not in _CHINESE or _fit(text) >= FITS


def _is_latin(body: bytes) -> bool:
    """Return whether bytes beyond ASCII are isolated, as letters with accents are.

    Double-byte text has three or more characters in a row; the second byte of one may be an ASCII
    letter, but then the next byte is not.
    """
    start = match.start() if (match := _HIGH.search(body)) else 0
    sample = body[start : start + _SAMPLE_BYTES]
    return 2 * _beyond_ascii(b"".join(_PAIRS.findall(sample))) < _beyond_ascii(sample)


def _beyond_ascii(body: bytes) -> int:
    return len(body.translate(None, _ASCII))


def _best(body: bytes, declared: dict[str, str]) -> Decoded | None:
    """Return the page in the encoding that fits best; of equal fits a declared one comes first."""
    if _is_latin(body):
        return _guessed(body) or Decoded(body.decode("cp1252", "replace"), "cp1252", "detected")
    names = dict.fromkeys((*declared, "utf-8", DEFAULT, "big5hkscs"))
    candidates = [
        Decoded(body.decode(name, "replace"), name, declared.get(name, "detected"))
        for name in names
        if name not in _LATIN | _SEVEN_BIT
    ]
    best = max(candidates, key=lambda candidate: round(_fit(candidate.text), 2))
    return best if _fit(best.text) >= HOPELESS else _guessed(body)


def _guessed(body: bytes) -> Decoded | None:
    """Return the page in charset-normalizer's guess for a sample with little markup, or None."""
    sample = re.sub(rb"[\x00-\x7f]{20,}", b" ", body)[:_SAMPLE_BYTES]
    match = from_bytes(sample).best()
    name = _codec(match.encoding) if match else ""
    return Decoded(body.decode(name, "replace"), name, "detected") if name else None


def _strict(body: bytes, name: str) -> str | None:
    """Return the text, or None if a byte does not fit; a character cut at the end is replaced."""
    try:
        return body.decode(name)
    except UnicodeDecodeError as error:
        whole = error.start
    if not 0 < whole >= len(body) - _LONGEST_CHARACTER:
        return None
    return body[:whole].decode(name) + "\ufffd"


def _fit(text: str) -> float:
    """Return the share of everyday characters in a sample beyond ASCII; 1 if that is empty.

    Kana and Hangul count as everyday characters only where they are declared (see ``_agrees``).
    """
    sample = _first_beyond_ascii(text)
    return sum(map(_common().__contains__, sample)) / len(sample) if sample else 1.0


def _first_beyond_ascii(text: str) -> str:
    """Return the first ``_SAMPLE_CHARS`` characters beyond ASCII."""
    found = ""
    for start in range(0, len(text), _CHUNK):
        # Through bytes: six times faster than a search for such characters on a page of markup.
        chunk = text[start : start + _CHUNK].encode("utf-8", "replace")
        found += chunk.translate(None, _ASCII).decode("utf-8")
        if len(found) >= _SAMPLE_CHARS:
            break
    return found[:_SAMPLE_CHARS]
