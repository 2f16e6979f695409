"""Bytes to text: what header, page and bytes say of the encoding, and who is believed.

Order [S1, methods section 7]: byte order mark; then the declared encodings (header, ``<meta>`` or
XML declaration in the first lines) if the bytes agree; then detection. Chinese servers often
declare what they do not send, so a declaration that the bytes contradict is only a hint.
``gb2312`` and ``gbk`` are read as GB18030 and ``big5`` as Big5-HKSCS, their supersets. Never
raises.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from charset_normalizer import from_bytes

HEAD = 100
"""Lines in which a page may declare its encoding [S1]; at most ``HEAD_BYTES``."""
HEAD_BYTES = 32_768
SAMPLE = 65_536
"""Bytes that detection looks at."""
DEFAULT = "gb18030"
"""Of undeclared bytes that are not UTF-8 and that detection says nothing of [S1: GBK]."""
TOLERATED = 0.002
"""Share of undecodable characters up to which an encoding still fits: pages are cut and patched."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SUPERSETS = {
    "gb2312": "gb18030", "gbk": "gb18030", "gb18030": "gb18030", "x-gbk": "gb18030",
    "gb_2312-80": "gb18030", "hz-gb-2312": "hz", "hz": "hz",
    "big5": "big5hkscs", "big5-hkscs": "big5hkscs", "x-x-big5": "big5hkscs", "cp950": "big5hkscs",
    "big5hkscs": "big5hkscs", "utf8": "utf-8", "utf-8": "utf-8",
    "iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "ascii": "cp1252",
    "us-ascii": "cp1252", "windows-1252": "cp1252", "cp1252": "cp1252", "shift-jis": "cp932",
    "shift_jis": "cp932", "euc-kr": "cp949", "ks_c_5601-1987": "cp949",
}  # fmt: skip
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)
_SINGLE_BYTE = frozenset({"cp1252"})


class Decoded(NamedTuple):
    """A decoded page.

    Attributes:
        text: Its text, without byte order mark.
        encoding: Python's name of the encoding that was used.
        how: Who was believed: ``bom``, ``header``, ``meta``, ``bytes`` (strict UTF-8), ``detected``
            or ``default``.
    """

    text: str
    encoding: str
    how: str


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """Return the text of a page, whatever its bytes are.

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
    if (text := _strict(body, "utf-8")) is not None:
        declared = dict(_declared(body, content_type))
        how = next((how for how, name in declared.items() if name == "utf-8"), "bytes")
        escaped = b"~{" in body and "hz" in declared.values()
        return (
            Decoded(body.decode("hz", "replace"), "hz", "meta")
            if escaped
            else Decoded(text, "utf-8", how)
        )
    return _declared_or_detected(body, content_type)


def _declared_or_detected(body: bytes, content_type: str | None) -> Decoded:
    """The first declared encoding that fits; else the best guess among declared, usual and detected."""
    candidates = list(_declared(body, content_type))
    for how, name in candidates:
        if (
            name not in _SINGLE_BYTE
            and (text := _strict(body, name)) is not None
            and _plausible(text)
        ):
            return Decoded(text, name, how)
    if not candidates or any(name in _SINGLE_BYTE for _, name in candidates):
        candidates += _usual(body)
    candidates += [("detected", name) for name in ("utf-8", DEFAULT, "big5hkscs")]
    candidates.append(("default", DEFAULT))
    scored = [(_badness(body, name), rank) for rank, (_, name) in enumerate(candidates)]
    how, name = candidates[min(scored)[1]]
    return Decoded(body.decode(name, "replace"), name, how)


def _declared(body: bytes, content_type: str | None) -> list[tuple[str, str]]:
    """(who, encoding) of what header and page declare and Python knows."""
    found = []
    if match := _HEADER.search(content_type or ""):
        found.append(("header", match[1]))
    head = b"\n".join(body[:HEAD_BYTES].split(b"\n", HEAD)[:HEAD])
    for pattern in (_META, _XML):
        if declared := pattern.search(head):
            found.append(("meta", declared[1].decode("ascii", "replace")))
    return [(how, name) for how, text in found if (name := _codec(text))]


def _codec(name: str) -> str:
    known = _SUPERSETS.get(name.strip().lower())
    if known:
        return known
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return ""
    is_text = getattr(info, "_is_text_encoding", True)
    return info.name if is_text and info.name not in {"utf-7", "idna", "punycode"} else ""


def _usual(body: bytes) -> list[tuple[str, str]]:
    """What charset-normalizer thinks of a sample without its ASCII markup."""
    sample = re.sub(rb"[\x00-\x7f]{20,}", b" ", body)[:SAMPLE]
    best = from_bytes(sample).best()
    name = _codec(best.encoding) if best else ""
    return [("detected", name)] if name else []


def _strict(body: bytes, name: str) -> str | None:
    try:
        return body.decode(name)
    except (UnicodeError, ValueError):
        return None


def _plausible(text: str) -> bool:
    """Whether a multi-byte decoding gives characters that people write, not leftovers of the code space."""
    return _strangeness(text[:SAMPLE]) < 0.1  # noqa: PLR2004


def _badness(body: bytes, name: str) -> float:
    """Share of characters that cannot be or are hardly ever meant; lower fits better."""
    text = body[:SAMPLE].decode(name, "replace")
    bad = text.count("\ufffd") / max(1, len(text))
    strange = _strangeness(text) / 10
    return round(0.0 if bad <= TOLERATED and strange < TOLERATED else bad + strange, 4)


_COMMON = re.compile(
    r"[\u4e00-\u9fff\u3000-\u30ff\uff00-\uffef\u2010-\u203f\u00a0-\u00ff\u0370-\u04ff\uac00-\ud7af]"
)
_RARE = re.compile(
    r"[\u0080-\u009f\u0100-\u036f\u0500-\u1fff\u2500-\u2bff\u3100-\u4dff\ue000-\uf8ff]"
)
_LATIN_PAIR = re.compile(r"[\u00a0-\u00ff]{2}")


def _strangeness(text: str) -> float:
    """Share of strange characters among those that are not ASCII, in [0, 1]."""
    common = len(_COMMON.findall(text))
    rare = len(_RARE.findall(text)) + 2 * len(_LATIN_PAIR.findall(text))
    return min(1.0, rare / max(1, common + rare))
