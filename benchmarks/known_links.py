"""Detection of known reprints: ``python -m benchmarks.known_links [--pages N] [--json [FILE]]``.

Two crawls of the demo web with and without TOPICCRAWL_REPRINT_LINKS, each ended after ``--budget``
pages. ``reprints_*``: on-topic pages fetched whose story had been fetched from another page before.
``stories_*``: different on-topic stories fetched. ``lowered``: number of links ranked below others.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.urls import fetched
from lab.demo.crawl import crawl
from lab.demo.plan import Kind
from lab.demo.web import generate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.demo.web import Web

STDOUT = Path("-")
_QUICK = ("DOWNLOAD_DELAY=0.01", "TOPICCRAWL_RETRY_DELAY=0.1", "LOG_LEVEL=ERROR")


def outcome(web: Web, folder: Path, budget: int, *, lowered: bool) -> dict[str, float]:
    """Crawl and return stories and reprints fetched."""
    options = [*_QUICK, f"TOPICCRAWL_PAGES={budget}", f"TOPICCRAWL_REPRINT_LINKS={int(lowered)}"]
    arguments = [part for option in options for part in ("-s", option)]
    with contextlib.redirect_stdout(io.StringIO()):
        crawl(web, folder, arguments)
    stories: set[str] = set()
    reprints = 0
    numbers = fetched(web, folder / "access.tsv")
    for number in numbers:
        truth = web.truth[web.plan.entries[number].url]
        if number in web.relevant and web.plan.entries[number].kind is Kind.ARTICLE:
            story = truth.reprint_of or truth.url
            reprints += story in stories
            stories.add(story)
    return {"pages": len(numbers), "stories": len(stories), "reprints": reprints}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.known_links", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--json", type=Path, nargs="?", const=STDOUT)
    options = parser.parse_args(arguments)
    web = generate(options.seed, options.pages, faults=False)
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("without", "with"):
            place = Path(folder) / name
            figures = outcome(web, place, options.budget, lowered=name == "with")
            found |= {f"{key}_{name}": value for key, value in figures.items()}
    text = json.dumps(found, indent=1) + "\n"
    sys.stdout.write(text if options.json == STDOUT else f"{found}\n")
    if options.json and options.json != STDOUT:
        options.json.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
