"""Several processes, one MongoDB: they meet the same stories at the same time, and one dies."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.mongo_server import database_uri
from topiccrawl.stores.mongo.store import MongoStore

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.news.article import Article

WRITER = """
import asyncio, sys
from topiccrawl.news.article import Article
from topiccrawl.news.duplicates import digest_of
from topiccrawl.stores.group import GroupCommit
from topiccrawl.stores.mongo.store import MongoStore

def article(name, number):
    body = f"第{number}场比赛昨晚在体育中心结束，主队以三比零获胜，球迷庆祝到深夜。" * 3
    return Article(f"http://{name}.test/{number}", f"第{number}篇", body, topics={name: 0.5},
                   digest=digest_of(body))

async def main(uri, name, count):
    store = MongoStore(uri)
    await store.open()
    group = GroupCommit(store.save, size=7, age=0.005)
    async def one(number):
        saved = await group.save(article(name, number))
        print(saved.url, saved.fate, flush=True)
    for begin in range(0, count, 20):
        await asyncio.gather(*(one(n) for n in range(begin, min(count, begin + 20))))
    await group.close()
    await store.close()

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""

STORIES = 40


def writer(uri: str, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, uri, name, str(STORIES)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def stored(uri: str) -> tuple[list[Article], dict[str, int]]:
    async def look() -> tuple[list[Article], dict[str, int]]:
        store = MongoStore(uri)
        await store.open()
        try:
            return await store.articles(), await store.counts()
        finally:
            await store.close()

    return asyncio.run(look())


def test_nodes_that_meet_the_same_stories_keep_each_once_though_one_dies(
    mongo_uri: str, tmp_path: Path
) -> None:
    uri = database_uri(mongo_uri, tmp_path)
    first, second, dying = [writer(uri, name) for name in ("one", "two", "three")]
    assert dying.stdout is not None
    dying.stdout.readline()
    dying.kill()
    dying.communicate()
    lines = [line for node in (first, second) for line in node.communicate(timeout=60)[0].split()]
    assert [first.returncode, second.returncode] == [0, 0]
    assert lines.count("new") + lines.count("reprint") == 2 * STORIES
    articles, counts = stored(uri)
    assert counts["articles"] == STORIES
    assert len({article.digest for article in articles}) == STORIES
    assert all({"one", "two"} <= set(article.topics) for article in articles)
