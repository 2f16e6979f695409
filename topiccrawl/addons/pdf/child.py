"""Text of a PDF file, in a process of its own: ``python child.py PAGES SECONDS < FILE``.

A PDF file can be made to need any time and memory. The process has bounds for both, and the crawl's
loop does not wait for it. It imports nothing of the package, so that it starts at once, and prints
one JSON object: ``title``, ``made`` (ISO day or "") and ``lines``, a list for each page.
"""

from __future__ import annotations

import io
import json
import resource
import sys

from pypdf import PdfReader
from pypdf.errors import PyPdfError

MEMORY = 1 << 30
"""Bytes of address space."""


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
    return {
        "title": (about.title or "") if about is not None else "",
        "made": made.date().isoformat() if made else "",
        "lines": [page.extract_text().splitlines() for page in reader.pages[:pages]],
    }


def main(arguments: list[str]) -> None:
    """Read standard input and print the object; status 1 for a file that cannot be read."""
    seconds = int(arguments[1])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    try:
        found = read(sys.stdin.buffer.read(), int(arguments[0]))
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, MemoryError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
