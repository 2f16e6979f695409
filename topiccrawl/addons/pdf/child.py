"""Child process that extracts the text of a PDF file: ``python child.py PAGES SECONDS < FILE``.

A malicious PDF file may need unlimited time and memory. The process has limits for both and does
not block the event loop of the crawl. It imports nothing of the package, so that it starts quickly.
It prints a JSON object: ``title``, ``made`` (ISO date or ""), ``largest`` (the text of the first
page in its largest font, "" if all text has the same size) and ``lines``, a list per page.
"""

from __future__ import annotations

import io
import json
import resource
import sys
from contextlib import suppress
from functools import partial
from itertools import groupby
from math import hypot
from operator import itemgetter

from pypdf import PdfReader
from pypdf.errors import PyPdfError

MEMORY = 1 << 30
"""Limit of the address space in bytes."""

HEADLINE_SCALE = 1.15
"""Minimum font height of a headline, relative to the most frequent height."""

HEADLINE_LENGTH = (6, 200)
"""Minimum and maximum length of a headline, in characters."""

_BROKEN = (
    PyPdfError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    NotImplementedError,
)
"""Exceptions of pypdf for broken files."""


def read(data: bytes, pages: int) -> dict[str, object]:
    """Return title, date and lines of the first pages.

    Raises:
        PyPdfError: If the data is not a PDF file, or needs a password.
    """
    reader = PdfReader(io.BytesIO(data))
    about = reader.metadata
    made = None
    with suppress(ValueError):
        made = about.creation_date if about else None
    runs: list[tuple[float, str]] = []
    lines: list[list[str]] = []
    for page in reader.pages[:pages]:
        try:
            text = page.extract_text(visitor_text=None if lines else partial(_collect_run, runs))
        except _BROKEN:  # other pages may be readable
            text = ""
        lines.append(text.splitlines())
    return {
        "title": (about.title or "") if about else "",
        "made": made.date().isoformat() if made else "",
        "largest": _largest(runs),
        "lines": lines,
    }


def _collect_run(runs: list[tuple[float, str]], text: str, outer: list[float], inner: list[float],
          font: object, size: float) -> None:  # fmt: skip  # noqa: ARG001
    """Append a piece of text with its font height on the page."""
    height = round(size * hypot(*outer[2:4]) * hypot(*inner[2:4]), 1)
    runs.append((height if text.strip() or not runs else runs[-1][0], text))


def _largest(runs: list[tuple[float, str]]) -> str:
    """Return the first text with the largest height that can be a headline."""
    sizes: dict[float, int] = {}
    for height, text in runs:
        sizes[height] = sizes.get(height, 0) + len(text)
    usual = max(sizes, key=sizes.__getitem__, default=0.0)
    least, most = HEADLINE_LENGTH
    texts = [
        (height, "".join(text for _, text in parts).strip())
        for height, parts in groupby(runs, key=itemgetter(0))
        if height >= HEADLINE_SCALE * usual
    ]
    headlines = (
        (height, text)
        for height, text in texts
        if least <= len(text) <= most and 2 * sum(map(str.isalpha, text)) > len(text)
    )
    return max(headlines, key=itemgetter(0), default=(0.0, ""))[1]


def main(arguments: list[str]) -> None:
    """Read a file from standard input and print the object; exit status 1 if it cannot be read."""
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
