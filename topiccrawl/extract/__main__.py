"""Extract and explain the article of a file: ``python -m topiccrawl.extract FILE [--url URL]``."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from topiccrawl.extract.extract import extract, parse_page
from topiccrawl.extract.pagination import parse_page_url
from topiccrawl.messages import escaped
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH = 50
"""Most characters shown of a line."""


def explain(html: str) -> list[str]:
    """Return the blocks of a page in the range of the body: ``+`` kept, ``-`` left out.

    >>> lines = explain("<p>" + "今天上午，展览在市中心开幕。" * 3 + "</p><p><a href=/>更</a>")
    >>> lines[0].startswith("box body"), lines[1][:1]
    (True, '+')
    """
    page = parse_page(html, "")
    layout, choice = page.layout, page.choice
    if not choice.blocks:
        return [f"no body found in {len(layout.blocks)} blocks"]
    box = layout.selector(choice.box) or layout.boxes[choice.box].tag
    lines = [f"box {box}, {choice.share:.2f} of the page's sentences, {choice.linked:.2f} links"]
    for number in range(choice.blocks[0], choice.blocks[-1] + 1):
        block = layout.blocks[number]
        mark = "+" if number in choice.blocks else "-"
        lines.append(
            f"{mark} {block.tag:<6} {block.size:>4} {block.linked:.2f} {block.text[:_WIDTH]}"
        )
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the article; return 1 if there is none. An unreadable file exits with status 2."""
    parser = argparse.ArgumentParser(prog="python -m topiccrawl.extract", description=__doc__)
    parser.add_argument("file", type=Path, help="a page as served")
    parser.add_argument("--url", default="http://example.test/page.html", help="URL of the page")
    options = parser.parse_args(arguments)
    try:
        data = options.file.read_bytes()
    except OSError as error:
        parser.error(f"{options.file}: cannot be read: {error.strerror}")
    html = decode(data, None).text
    found = extract(html, options.url)
    part = parse_page_url(options.url)
    lines = [f"page {part.number} of {part.base}"] if part.number else []
    if found is None:
        lines.append("no article: too little text, too many links, or no sentences")
    else:
        lines += [
            f"{name:<10}{value}"
            for name, value in asdict(found).items()
            if name not in ("body", "digest")
        ]
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # GBK of a terminal does not have all letters
    sys.stdout.writelines(f"{escaped(line)}\n" for line in (*lines, "", *explain(html)))
    return int(found is None)


if __name__ == "__main__":
    sys.exit(main())
