"""Compare results with the baseline: crawl orders, articles, duplicates, records, and surface.

    python -m benchmarks.baseline [--check | --write] [--only PART]... [--processes 2]

``--check`` (the default) prints each value that differs from ``baseline.json`` and exits with
status 1 if there are any; ``--write`` prints them and stores each finished part. A part is named as
in that file, or by a prefix of its name (``orders``). Parts of recorded webs and pages need
../shared/data; if it is missing, they are skipped with a message, and their stored values stay.

Covered: all strategies with all topics of the demo web and the recorded ones, at their own budgets;
all pages of zhnews and news_en; all labelled pairs; the companies of three demo webs and all
contact pages written by hand; commands, settings, arguments, routes, and the data that crawls
store.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from typing import TYPE_CHECKING

from benchmarks.baseline import book, orders, surface, texts, traces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

WEBS = ("wikispeedia", "okc", "linuxcn", "lohelp_zh")
PAGES = ("zhnews", "news_en")
RECORDED: dict[str, Callable[[], book.Part]] = {
    **{f"orders {name}": partial(orders.recorded, name) for name in WEBS},
    **{f"articles {name}": partial(texts.recorded_articles, name) for name in PAGES},
    "duplicates chinanews2020": texts.recorded_duplicates,
}
"""Parts of recorded data, longest first; the second word is a prefix of the file name."""
QUICK: dict[str, Callable[[], book.Part]] = {
    "orders demo": orders.made,
    "articles made": texts.made_articles,
    "duplicates pairs": texts.made_duplicates,
    "records companies": texts.made_records,
    "records contacts": texts.written_records,
    "surface": surface.manifest,
}
"""Parts that need a few seconds and no data; `make test` compares them."""
PARTS = {**RECORDED, "traces": traces.of_crawls, **QUICK}


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, store with ``--write``, and return the exit status."""
    options = _parser().parse_args(arguments)
    lines = []
    for name, found in collected(chosen(options.only), options.processes):
        stored = book.read()
        lines += compared(stored, name, found)
        if options.write:
            book.write({**{one: stored[one] for one in stored if one in PARTS}, name: found})
    print(*lines, f"{len(lines)} differences{' stored' * options.write}", sep="\n")
    return int(bool(lines) and not options.write)


def chosen(beginnings: Sequence[str]) -> list[str]:
    """Return the parts with these prefixes, or all; report and skip those without data.

    Raises:
        SystemExit: If there is no such part.
    """
    names = [name for name in PARTS if not beginnings or name.startswith(tuple(beginnings))]
    if not names:
        raise SystemExit(f"no such part: choose among {', '.join(PARTS)}")
    absent = [n for n in names if n in RECORDED and not any(orders.DATA.glob(f"{n.split()[1]}.*"))]
    for name in absent:
        print(f"{name}: skipped, not in {orders.DATA}")
    return [name for name in names if name not in absent]


def collected(names: Sequence[str], processes: int) -> Iterator[tuple[str, book.Part]]:
    """Yield finished parts; each is computed in its own process."""
    os.environ.update(orders.STEADY)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, max_tasks_per_child=1) as pool:
        began = time.perf_counter()
        asked = {pool.submit(PARTS[name]): name for name in names}
        for done in as_completed(asked):
            yield asked[done], done.result()
            print(f"{time.perf_counter() - began:6.0f} s  {asked[done]}", file=sys.stderr)


def compared(stored: dict[str, book.Part], name: str, found: book.Part) -> list[str]:
    """Return a line for each difference of a part."""
    return list(book.differences(stored.get(name, {}), found, name))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.baseline", None, __doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    wish = parser.add_mutually_exclusive_group()
    wish.add_argument("--check", action="store_true", help="compare, which is the default")
    wish.add_argument("--write", action="store_true", help="store the results")
    parser.add_argument("--only", action="append", default=[], metavar="PART")
    parser.add_argument("--processes", type=int, default=2, metavar="N")
    return parser


if __name__ == "__main__":
    sys.exit(main())
