"""Detection of known reprints: ``python -m benchmarks.known_links [--pages N] [--json [FILE]]``.

Two crawls of the demo web with and without TOPICCRAWL_REPRINT_LINKS, each ended after ``--budget``
pages. ``reprints_*``: on-topic pages fetched whose story had been fetched from another page before.
``stories_*``: different on-topic stories fetched. ``lowered``: number of links ranked below others.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.output import command_line, show
from benchmarks.urls import crawled
from lab.demo.plan import Kind
from lab.demo.web import generate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.demo.web import Web


def outcome(web: Web, folder: Path, budget: int, *, lowered: bool) -> dict[str, float]:
    """Crawl and return stories and reprints fetched."""
    numbers = crawled(web, folder, TOPICCRAWL_PAGES=budget, TOPICCRAWL_REPRINT_LINKS=lowered)
    stories: set[str] = set()
    reprints = 0
    for number in numbers:
        truth = web.truth[web.plan.entries[number].url]
        if number in web.relevant and web.plan.entries[number].kind is Kind.ARTICLE:
            story = truth.reprint_of or truth.url
            reprints += story in stories
            stories.add(story)
    return {"pages": len(numbers), "stories": len(stories), "reprints": reprints}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = command_line(__doc__, seed=1, pages=1500, budget=500)
    options = parser.parse_args(arguments)
    web = generate(options.seed, options.pages, faults=False)
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("without", "with"):
            place = Path(folder) / name
            figures = outcome(web, place, options.budget, lowered=name == "with")
            found |= {f"{key}_{name}": value for key, value in figures.items()}
    show(found, options.json)


if __name__ == "__main__":
    main()
