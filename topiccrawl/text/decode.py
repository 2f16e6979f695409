"""Decoding of pages, with detection of the encoding from header, page and bytes.

The encoding is determined in this order [S1; methods section 7]:

1. byte order mark;
2. UTF-8 if the bytes are valid UTF-8 beyond chance, regardless of declarations, or nearly valid and
   no other encoding is declared;
3. declared encodings that are credible for the bytes (header, then ``<meta>`` or XML declaration
   in the first ``HEAD_LINES`` lines);
4. the candidate with the best fit.

Chinese servers often declare a wrong encoding, so a Latin declaration for Chinese bytes, or one
Chinese encoding for the bytes of another, is only a hint. ``gb2312`` and ``gbk`` are decoded as
GB18030 and ``big5`` as Big5-HKSCS, their supersets. Invalid bytes only affect single characters.
Undeclared bytes without a credible candidate are decoded as GB18030 [S1: default GBK].

The fit of an encoding is the share of common characters in a sample of the non-ASCII characters:
about 0.97 for Chinese in the correct encoding, 0.3 to 0.6 in a wrong encoding.
"""

from __future__ import annotations

import codecs
import re
from functools import cache, lru_cache
from itertools import islice
from types import NoneType
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from charset_normalizer import from_bytes

HEAD_LINES = 100
"""Lines searched for a declaration of the encoding [S1]; at most ``HEAD_BYTES``."""

HEAD_BYTES = 65_536

DEFAULT = "gb18030"

LABELS = 200
"""Cached labels of encodings; pages may declare any."""

GOOD_FIT = 0.75
"""Share of common characters from which a Chinese decoding is accepted without comparison."""

MIN_FIT = 0.5
"""Share below which charset-normalizer is used, which supports more languages."""

BROKEN = 10
"""Non-ASCII characters per invalid byte from which bytes are nearly valid UTF-8."""

_SAMPLE_RUNS = 300
_SAMPLE_CHARS = 2_000
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
_SUPPORTED = frozenset(
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
        text: Text without byte order mark.
        encoding: Python's name of the encoding.
        how: Source of the encoding: ``bom``, ``header``, ``meta``, ``bytes`` (undeclared UTF-8 or
            UTF-16), ``detected`` or ``default``.
    """

    text: str
    encoding: str
    how: str


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """Decode a page. Any bytes can be decoded.

    Args:
        body: Decompressed bytes of the page.
        content_type: Content-Type header, or None.

    >>> decode("新闻".encode("gbk"), "text/html; charset=gb2312")
    Decoded(text='新闻', encoding='gb18030', how='header')
    >>> decode("新闻中心".encode(), "text/html; charset=gbk").encoding
    'utf-8'
    """
    if not isinstance(body, (bytes, bytearray)):
        kind = type(body).__name__  # type: ignore[unreachable]
        raise TypeError(f"an undecoded page is bytes, not {kind}: text needs no decoding")
    if not isinstance(content_type, (str, NoneType)):
        kind = type(content_type).__name__  # type: ignore[unreachable]
        raise TypeError(f"a Content-Type is text, not {kind}: decode it as latin-1")
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
    """Return the supported encodings declared in header and page, with their sources."""
    found: list[tuple[str, str]] = []
    if match := _HEADER.search(content_type or ""):
        found.append((match[1], "header"))
    head = b"\n".join(body[:HEAD_BYTES].split(b"\n", HEAD_LINES)[:HEAD_LINES])
    matches = (_META.search(head), _XML.match(head))
    found += [(match[1].decode("ascii", "replace"), "meta") for match in matches if match]
    supported = [(name, source) for label, source in found if (name := codec_of(label))]
    return dict(reversed(supported))


@cache
def _common_characters() -> frozenset[str]:
    """Return common characters: punctuation and first levels of GB 2312 and Big5."""
    gb = ((0xA1, 0xA4), (0xB0, 0xD8))
    pairs = [bytes((a, b)) for low, high in gb for a in range(low, high) for b in range(0xA1, 0xFF)]
    trails = (*range(0x40, 0x7F), *range(0xA1, 0xFF))
    other = [bytes((a, b)) for a in range(0xA1, 0xC6) for b in trails]
    text = b"".join(pairs).decode("gb2312", "ignore") + b"".join(other).decode("big5", "ignore")
    return frozenset(text) | frozenset("·—€©®")


@lru_cache(LABELS)
def codec_of(label: str) -> str:
    """Return Python's name of the encoding of pages for a label, or "" if unsupported.

    >>> codec_of("GBK"), codec_of("Shift_JIS"), codec_of("cp932"), codec_of("rot13")
    ('gb18030', 'cp932', 'cp932', '')
    """
    label = label.strip().lower()
    if label in _SUPERSETS:
        return _SUPERSETS[label]
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return ""
    name = _SUPERSETS.get(name, name)
    return name if name in _SUPPORTED else ""


def _utf_16(body: bytes) -> str:
    """Detect UTF-16 markup without byte order mark by its zero bytes; "" for other bytes.

    Half of the bytes of markup are zero, all at odd or all at even places. Letters such as 一
    (U+4E00) have a few zero bytes at the other places.
    """
    head = body[:1024]
    even, odd = head[::2].count(0), head[1::2].count(0)
    most, few = max(even, odd), min(even, odd)
    if most * 8 < len(head) or few * 4 > most or not _WIDE_TAG.search(head):
        return ""
    return "utf-16-le" if odd > even else "utf-16-be"


def _as_utf_8(body: bytes, declared: dict[str, str]) -> Decoded | None:
    """Decode as UTF-8 if the bytes are (nearly) valid and no declaration contradicts."""
    if (text := _decode_strict(body, "utf-8")) is None:
        text = body.decode("utf-8", "replace")
        other = declared and "utf-8" not in declared
        if other or BROKEN * text.count("\ufffd") > len(text) - len(text.encode("ascii", "ignore")):
            return None
    others = [name for name in declared if name != "utf-8"]
    if text.isascii():
        if seven := [name for name in others if name in _SEVEN_BIT]:
            return Decoded(body.decode(seven[0], "replace"), seven[0], declared[seven[0]])
    elif others and "utf-8" not in declared and not _surely_utf_8(body):
        return None
    return Decoded(text, "utf-8", declared.get("utf-8", "bytes"))


def _surely_utf_8(body: bytes) -> bool:
    """Return whether valid UTF-8 cannot be a double-byte encoding by chance.

    Chinese in UTF-8 has three-byte sequences, and Latin text has isolated two-byte letters. Runs of
    GBK characters may be valid UTF-8, but have neither.
    """
    if _LONG_SEQUENCE.search(body):
        return True
    return all(len(run[0]) == 2 for run in islice(_HIGH_RUN.finditer(body), _SAMPLE_RUNS))  # noqa: PLR2004


def _as_declared(body: bytes, declared: dict[str, str]) -> Decoded | None:
    """Decode in the first declared encoding that is credible for the bytes."""
    for name, source in declared.items():
        if (text := _decode_strict(body, name)) is not None and _is_credible(body, text, name):
            return Decoded(text, name, source)
    return None


def _is_credible(body: bytes, text: str, name: str) -> bool:
    """Return whether a decoding without errors is credible.

    Latin-1 decodes all bytes and is a common server default. Chinese encodings decode each other's
    bytes. Other encodings are rarely declared by mistake.
    """
    if name in _LATIN:
        return _is_latin(body)
    return name not in _CHINESE or _fit(text) >= GOOD_FIT


def _is_latin(body: bytes) -> bool:
    """Return whether non-ASCII bytes are isolated, like accented letters.

    Double-byte text has runs of three or more characters. The second byte of a character may be an
    ASCII letter, but not the following byte.
    """
    start = match.start() if (match := _HIGH.search(body)) else 0
    sample = body[start : start + _SAMPLE_BYTES]
    return 2 * _count_non_ascii(b"".join(_PAIRS.findall(sample))) < _count_non_ascii(sample)


def _count_non_ascii(body: bytes) -> int:
    return len(body.translate(None, _ASCII))


def _best(body: bytes, declared: dict[str, str]) -> Decoded | None:
    """Decode in the encoding with the best fit; declared encodings win ties."""
    if _is_latin(body):
        return _detect(body) or Decoded(body.decode("cp1252", "replace"), "cp1252", "detected")
    names = dict.fromkeys((*declared, "utf-8", DEFAULT, "big5hkscs"))
    candidates = [
        Decoded(body.decode(name, "replace"), name, declared.get(name, "detected"))
        for name in names
        if name not in _LATIN | _SEVEN_BIT
    ]
    best = max(candidates, key=lambda candidate: round(_fit(candidate.text), 2))
    return best if _fit(best.text) >= MIN_FIT else _detect(body)


def _detect(body: bytes) -> Decoded | None:
    """Decode in the encoding that charset-normalizer detects in a sample, or return None."""
    sample = re.sub(rb"[\x00-\x7f]{20,}", b" ", body)[:_SAMPLE_BYTES]
    match = from_bytes(sample).best()
    name = codec_of(match.encoding) if match else ""
    return Decoded(body.decode(name, "replace"), name, "detected") if name else None


def _decode_strict(body: bytes, name: str) -> str | None:
    """Decode strictly, or return None; an incomplete character at the end is replaced."""
    try:
        return body.decode(name)
    except UnicodeDecodeError as error:
        whole = error.start
    if not 0 < whole >= len(body) - _LONGEST_CHARACTER:
        return None
    return body[:whole].decode(name) + "\ufffd"


def _fit(text: str) -> float:
    """Return the share of common characters in a non-ASCII sample; 1 for an empty sample.

    Kana and Hangul are not common characters; declared encodings for them are accepted without this
    test (see ``_is_credible``).
    """
    # Translating bytes is six times faster than a search for non-ASCII characters in markup.
    others = text.encode("utf-8", "replace").translate(None, _ASCII)
    sample = others.decode("utf-8")[:_SAMPLE_CHARS]
    return sum(map(_common_characters().__contains__, sample)) / len(sample) if sample else 1.0


def percent_decoded(text: str) -> str:
    """Decode percent-encoded bytes as UTF-8, else as GB18030."""
    raw = unquote_to_bytes(text.encode("utf-8", "replace"))
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("gb18030", "replace")
