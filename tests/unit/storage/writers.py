"""Process that stores articles, and a reader of the stored result, for tests of shared stores."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from examples.jsonstore import JsonStore
from tests.contracts.articles import counts_of, stored_in
from topiccrawl.addons.mongodb.store import MongoStore
from topiccrawl.model import Article
from topiccrawl.storage.spooling import GroupCommit
from topiccrawl.storage.sqlite import SqliteStore
from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from topiccrawl.storage.contract import ArticleStore

STORES: dict[str, Callable[[str], ArticleStore]] = {
    "sqlite": SqliteStore,
    "mongo": MongoStore,
    "json": JsonStore,
}


@contextmanager
def writing(kind: str, place: str, name: str, count: int) -> Iterator[subprocess.Popen[str]]:
    """Start a process that stores ``count`` stories and prints the result of each."""
    command = [sys.executable, "-m", "tests.unit.storage.writers", kind, place, name, str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def stored(kind: str, place: str) -> tuple[list[Article], dict[str, int]]:
    """Return the articles that the processes stored, and sizes."""

    async def look() -> tuple[list[Article], dict[str, int]]:
        store: ArticleStore = STORES[kind](place)
        await store.open()
        try:
            return await stored_in(store), await counts_of(store)
        finally:
            await store.close()

    return asyncio.run(look())


def article(name: str, number: int) -> Article:
    body = f"第{number}场比赛昨晚在体育中心结束，主队以三比零获胜，球迷庆祝到深夜。" * 3
    url, title = f"http://{name}.test/{number}", f"第{number}篇"
    return Article(url, title, body, topics={name: 0.5}, digest=digest_of(body))


async def main(kind: str, place: str, name: str, count: int) -> None:
    store: ArticleStore = STORES[kind](place)
    await store.open()
    group = GroupCommit(store.save, size=7, age=0.005)

    async def one(number: int) -> None:
        saved = await group.save(article(name, number))
        print(saved.url, saved.fate, flush=True)  # noqa: T201

    for begin in range(0, count, 20):
        await asyncio.gather(*(one(n) for n in range(begin, min(count, begin + 20))))
    await group.close()
    await store.close()


if __name__ == "__main__":
    _, kind_, place_, name_, count_ = sys.argv
    asyncio.run(main(kind_, place_, name_, int(count_)))
