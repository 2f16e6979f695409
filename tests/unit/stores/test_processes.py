"""Several processes, one file: shared, killed, out of space."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from topiccrawl.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.news.article import Article

WRITER = """
import asyncio, sys
from topiccrawl.news.article import Article
from topiccrawl.news.duplicates import digest_of
from topiccrawl.stores.group import GroupCommit
from topiccrawl.stores.sqlite import SqliteStore

def article(name, number):
    body = f"第{number}场比赛昨晚在体育中心结束，主队以三比零获胜，球迷庆祝到深夜。" * 3
    return Article(f"http://{name}.test/{number}", f"第{number}篇", body, topics={name: 0.5},
                   digest=digest_of(body))

async def main(folder, name, count):
    store = SqliteStore(folder)
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


def writer(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def stored(folder: Path) -> tuple[list[Article], dict[str, int]]:
    async def look() -> tuple[list[Article], dict[str, int]]:
        store = SqliteStore(folder)
        await store.open()
        try:
            return await store.articles(), await store.counts()
        finally:
            await store.close()

    return asyncio.run(look())


def test_processes_that_store_the_same_stories_at_once_keep_each_once(tmp_path: Path) -> None:
    running = [writer(tmp_path, name, 150) for name in ("one", "two", "three")]
    lines = [line for one in running for line in one.communicate(timeout=30)[0].splitlines()]
    assert [one.returncode for one in running] == [0, 0, 0]
    assert sum(line.endswith(" new") for line in lines) == 150
    assert sum(line.endswith(" reprint") for line in lines) == 300
    articles, counts = stored(tmp_path)
    assert (counts["articles"], counts["reprints"]) == (150, 300)
    assert len({article.digest for article in articles}) == 150
    assert all(set(article.topics) == {"one", "two", "three"} for article in articles)


def test_what_was_acknowledged_before_kill_9_is_there_once(tmp_path: Path) -> None:
    acknowledged: set[str] = set()
    for after in (1, 30, 90):
        with writer(tmp_path, "one", 5000) as process:
            assert process.stdout is not None
            for _, line in zip(range(after), process.stdout, strict=False):
                acknowledged.add(line.split()[0])
            process.send_signal(signal.SIGKILL)
            # what it printed before it died was acknowledged as well
            acknowledged.update(line.split()[0] for line in process.stdout if line.endswith("\n"))
    articles, counts = stored(tmp_path)
    urls = [article.url for article in articles]
    assert len(acknowledged) >= 90
    assert acknowledged <= set(urls)
    assert len(urls) == len(set(urls)) == counts["articles"]


LIMITED = """
import asyncio, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
from topiccrawl.errors import StorageError
from topiccrawl.news.article import Article
from topiccrawl.stores.sqlite import SqliteStore

async def main(folder):
    store = SqliteStore(folder)
    await store.open()
    for number in range(100):
        article = Article(f"http://a.test/{number}", "题", "文" * 10_000, digest=str(number))
        try:
            await store.save([article])
        except StorageError as error:
            print("failed", error)
            break
        print(article.url)
    await store.close()

asyncio.run(main(sys.argv[1]))
"""


def test_a_file_that_may_not_grow_fails_the_save_and_keeps_what_was_stored(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    *saved, failure = done.stdout.splitlines()
    assert failure.startswith(f"failed {tmp_path / 'store.sqlite'}: cannot write: ")
    articles, _ = stored(tmp_path)
    assert sorted(article.url for article in articles) == sorted(saved)
    assert saved
