"""A PDF file's lines as an HTML page, which the extractor, the judge and the archive know."""

from __future__ import annotations

import html
import re
from collections import Counter
from typing import TYPE_CHECKING

from topiccrawl.text.normal import has_han

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REPEATED = 3
"""Pages that must have a line before it is a header or footer."""

HEAD = 600
"""Characters at the top where a date is looked for, before the file's own is taken."""

_PAGE_NUMBER = re.compile(
    r"\W*(?:第?\s*\d{1,4}\s*页?|page \d+(?: of \d+)?|\d+\s*/\s*\d+)\W*", re.IGNORECASE
)
_DATE = re.compile(r"(?:19|20)\d\d\s*[年./-]\s*\d{1,2}|\b\d{1,2}[./ ]\w{1,9}[./ ](?:19|20)\d\d")
_MADE_BY = re.compile(
    r"^(?:microsoft (?:word|powerpoint) - |untitled)|\.(?:docx?|indd|pptx?)$", re.IGNORECASE
)
_END = re.compile(r"[。！？!?.:：”\"]$")
_SHORT = 0.7
"""Share of the usual length of a line below which a line ends its paragraph."""


def page_of(title: str, made: str, pages: Sequence[Sequence[str]]) -> str:
    """Return an HTML page; "" where there is no text.

    >>> page = page_of("", "2026-09-14", [["Bridge closes", "It is closed.", "1"]])
    >>> "<h1>Bridge closes</h1>" in page, "2026-09-14" in page, "<p>1</p>" in page
    (True, True, False)
    """
    lines = _lines(pages)
    if not lines:
        return ""
    headline = "" if _MADE_BY.search(title.strip()) else " ".join(title.split())
    if not headline:
        headline = lines.pop(0)
    elif lines and _same(lines[0], headline):
        lines.pop(0)
    dated = made and not _DATE.search("\n".join(lines)[:HEAD])
    time = f'<meta property="article:published_time" content="{made}">' if dated else ""
    body = "".join(f"<p>{html.escape(part)}</p>\n" for part in _paragraphs(lines))
    name = html.escape(headline)
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta property="og:type" content="article">{time}</head>'
        f"<body><article><h1>{name}</h1>\n{body}</article></body></html>"
    )


def _lines(pages: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines without page numbers, headers and footers."""
    stripped = [[" ".join(line.split()) for line in page] for page in pages]
    seen = Counter(line for page in stripped for line in set(page))
    return [
        line
        for page in stripped
        for line in page
        if line and seen[line] < REPEATED and not _PAGE_NUMBER.fullmatch(line)
    ]


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """Join lines that are broken where the page ends."""
    usual = sorted(map(len, lines))[len(lines) * 3 // 4] if lines else 0
    parts: list[str] = []
    for line in lines:
        parts.append(line)
        if _END.search(line) or len(line) < _SHORT * usual:
            yield _joined(parts)
            parts = []
    if parts:
        yield _joined(parts)


def _joined(parts: Sequence[str]) -> str:
    text = parts[0]
    for part in parts[1:]:
        if text.endswith("-"):
            text = text[:-1] + part
        else:
            text += part if has_han(text[-1] + part[0]) else f" {part}"
    return text


def _same(one: str, other: str) -> bool:
    return "".join(one.split()).lower() == "".join(other.split()).lower()
