"""Text of a PDF file, in a process of its own: ``python child.py PAGES SECONDS < FILE``.

A PDF file can be made to need any time and memory. The process has bounds for both, and the crawl's
loop does not wait for it. It imports nothing of the package, so that it starts at once, and prints
one JSON object: ``title``, ``made`` (ISO day or ""), ``largest`` (the first page's text in its
largest type, "" if all has one size) and ``lines``, a list for each page.
"""

from __future__ import annotations

import io
import json
import resource
import sys
from functools import partial
from itertools import groupby
from math import hypot
from operator import itemgetter

from pypdf import PdfReader
from pypdf.errors import PyPdfError

MEMORY = 1 << 30
"""Bytes of address space."""

LARGER = 1.15
"""Times the usual height of letters from which a text may be the headline."""

HEADLINE = (6, 200)
"""Characters of the shortest and of the longest headline."""

_BROKEN = (
    PyPdfError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    NotImplementedError,
)
"""Errors of the library on broken files."""


def read(data: bytes, pages: int) -> dict[str, object]:
    """Return title, day and lines of the first pages.

    Raises:
        PyPdfError: It is no PDF file, or one that needs a password.
    """
    reader = PdfReader(io.BytesIO(data))
    about = reader.metadata
    made = None
    if about is not None:
        try:
            made = about.creation_date
        except ValueError:
            made = None
    runs: list[tuple[float, str]] = []
    lines: list[list[str]] = []
    for page in reader.pages[:pages]:
        try:
            text = page.extract_text(visitor_text=None if lines else partial(_note, runs))
        except _BROKEN:  # the other pages may be read
            text = ""
        lines.append(text.splitlines())
    return {
        "title": (about.title or "") if about is not None else "",
        "made": made.date().isoformat() if made else "",
        "largest": _largest(runs),
        "lines": lines,
    }


def _note(runs: list[tuple[float, str]], text: str, outer: list[float], inner: list[float],
          font: object, size: float) -> None:  # fmt: skip  # noqa: ARG001
    """Note a piece of text with the height of its letters on the page."""
    height = round(size * hypot(*outer[2:4]) * hypot(*inner[2:4]), 1)
    runs.append((height if text.strip() or not runs else runs[-1][0], text))


def _largest(runs: list[tuple[float, str]]) -> str:
    """Return the first text of the largest height in which there is a headline."""
    sizes: dict[float, int] = {}
    for height, text in runs:
        sizes[height] = sizes.get(height, 0) + len(text)
    usual = max(sizes, key=sizes.__getitem__, default=0.0)
    least, most = HEADLINE
    texts = [
        (height, "".join(text for _, text in parts).strip())
        for height, parts in groupby(runs, key=itemgetter(0))
        if height >= LARGER * usual
    ]
    headlines = (
        (height, text)
        for height, text in texts
        if least <= len(text) <= most and 2 * sum(map(str.isalpha, text)) > len(text)
    )
    return max(headlines, key=itemgetter(0), default=(0.0, ""))[1]


def main(arguments: list[str]) -> None:
    """Read standard input and print the object; status 1 for a file that cannot be read."""
    seconds = int(arguments[1])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    try:
        found = read(sys.stdin.buffer.read(), int(arguments[0]))
    except (*_BROKEN, RecursionError, MemoryError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
