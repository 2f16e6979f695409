"""Articles a second into the stores: ``python -m benchmarks.store [--mongo N] [--json FILE]``.

Writes generated articles of 800 characters through the group commit, as the pipeline does, into a
new file on the disk of ``--folder``; a tenth are reprints. Then saves them all again (a refetch).

With ``--mongo`` also into a MongoDB server, that of MONGODB_TEST_URI or the tests' own, compared
with bare ``bulk_write`` of the same documents, in the same groups, into collections with the same
indexes; the two take turns of ``TURN`` articles, so that both run under the same load.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.output import command_line, show
from tests.mongo_server import running
from topiccrawl.addons.mongodb import conversion
from topiccrawl.addons.mongodb.store import MongoStore
from topiccrawl.model import Article
from topiccrawl.storage.database import FILE
from topiccrawl.storage.spooling import SIZE, GroupCommit
from topiccrawl.storage.sqlite import SqliteStore
from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.storage.contract import ArticleStore

REPRINTS = 10
"""Every n-th article has the text of the article before it."""

TURN = 200
"""Articles of one turn."""

IN_FLIGHT = 100
"""Items that wait for a commit at the same time (CONCURRENT_ITEMS)."""


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


async def rate(store: ArticleStore, articles: Sequence[Article]) -> float:
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
    stored = len([one async for one in store.select()])
    await store.close()
    return {
        "embedded_articles_per_s": round(first, 1),
        "embedded_refetched_per_s": round(again, 1),
        "embedded_bytes_article": round((folder / FILE).stat().st_size / stored, 1),
    }


async def mongo(uri: str, number: int) -> dict[str, float]:
    """Figures by name: ours and bare ``bulk_write``, in turns."""
    articles = [make(n) for n in range(number)]
    kept = [a for n, a in enumerate(articles) if n % REPRINTS != REPRINTS - 1]
    name = f"benchmark_{os.getpid()}"
    host, _, options = uri.partition("/?")
    ours = MongoStore(f"{host}/{name}?{options}")
    bare = MongoStore(f"{host}/{name}_bare?{options}")
    await ours.open()
    await bare.open()  # makes the same indexes
    seconds = [0.0, 0.0]
    for begin in range(0, number, TURN):
        part = articles[begin : begin + TURN]
        seconds[0] += len(part) / await rate(ours, part)
        start = time.perf_counter()
        for first in range(begin, begin + TURN, SIZE):
            writes = [
                conversion.upsert(article, at + first + 1)
                for at, article in enumerate(articles[first : first + SIZE])
                if (at + first) % REPRINTS != REPRINTS - 1
            ]
            await bare.server.collection("articles").bulk_write(writes, ordered=False)
        seconds[1] += time.perf_counter() - start
    for store in (ours, bare):
        await store.server.database.client.drop_database(store.server.name)
        await store.close()
    return {
        "mongo_articles_per_s": round(number / seconds[0], 1),
        "mongo_bare_articles_per_s": round(len(kept) / seconds[1], 1),
        "mongo_over_bulk_write": round(seconds[1] / len(kept) * number / seconds[0], 3),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = command_line(__doc__, articles=10_000, mongo=0)
    parser.add_argument("--folder", type=Path, help="where to write (default: a temporary folder)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        figures = asyncio.run(measure(Path(folder), options.articles))
    if options.mongo:
        with running() as uri:
            figures |= asyncio.run(mongo(uri, options.mongo))
    show(figures, options.json)


if __name__ == "__main__":
    main()
