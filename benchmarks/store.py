"""Articles a second into the embedded store: ``python -m benchmarks.store [--json FILE]``.

Writes made-up articles of 800 characters through the group commit, as the pipeline does, into a
new file on the disk of ``--folder``; a tenth are reprints. Then saves them all again (a refetch).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from topiccrawl.news.article import Article
from topiccrawl.news.duplicates import digest_of
from topiccrawl.stores.database import FILE
from topiccrawl.stores.group import GroupCommit
from topiccrawl.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Sequence

REPRINTS = 10
"""Every so many articles have the text of the one before."""

IN_FLIGHT = 100
"""Items that wait for their commit at once (CONCURRENT_ITEMS)."""


def make(number: int) -> Article:
    """Article number ``number`` of the benchmark."""
    story = number - 1 if number % REPRINTS == REPRINTS - 1 else number
    body = "\n".join(
        f"第{story}则消息的第{line}段，讲述当地一次展览会的见闻。" * 4 for line in range(8)
    )
    return Article(
        url=f"http://site{number % 50}.test/2020/{number}.html",
        title=f"第{number}则消息",
        body=body,
        site=f"site{number % 50}.test",
        topics={"展览": 0.5},
        terms=(("展览会", 0.6), ("消息", 0.4)),
        digest=digest_of(body),
    )


async def rate(store: SqliteStore, articles: Sequence[Article]) -> float:
    """Articles a second through the group commit."""
    group = GroupCommit(store.save)
    waiting = iter(articles)

    async def worker() -> None:
        for article in waiting:
            await group.save(article)

    begin = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
    return len(articles) / (time.perf_counter() - begin)


async def measure(folder: Path, number: int) -> dict[str, float]:
    """Figures by name."""
    articles = [make(n) for n in range(number)]
    store = SqliteStore(folder)
    await store.open()
    first = await rate(store, articles)
    again = await rate(store, articles)
    stored = (await store.counts())["articles"]
    await store.close()
    return {
        "embedded_articles_per_s": round(first, 1),
        "embedded_refetched_per_s": round(again, 1),
        "embedded_bytes_article": round((folder / FILE).stat().st_size / stored, 1),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.store")
    parser.add_argument("--articles", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="where to write (default: a temporary folder)")
    parser.add_argument("--json", type=Path, help="also write the figures there")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        figures = asyncio.run(measure(Path(folder), options.articles))
    for name, value in figures.items():
        sys.stdout.write(f"{name:28}{value:12,.1f}\n")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
