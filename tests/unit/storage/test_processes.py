"""Tests of several processes that share a store: duplicates, kills and a full disk."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.unit.storage.writers import stored, writing
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("kind", ["sqlite", "json"])
def test_concurrent_processes_store_each_story_once(tmp_path: Path, kind: str) -> None:
    with ExitStack() as stack:
        running = [
            stack.enter_context(writing(kind, str(tmp_path), name, 150))
            for name in ("one", "two", "three")
        ]
        lines = [
            line for one in running for line in one.communicate(timeout=PATIENCE)[0].splitlines()
        ]
    assert [one.returncode for one in running] == [0, 0, 0]
    assert sum(line.endswith(" new") for line in lines) == 150
    assert sum(line.endswith(" reprint") for line in lines) == 300
    articles, counts = stored(kind, str(tmp_path))
    assert (counts["articles"], counts["reprints"]) == (150, 300)
    assert len({article.digest for article in articles}) == 150
    assert all(set(article.topics) == {"one", "two", "three"} for article in articles)


@pytest.mark.parametrize("kind", ["sqlite", "json"])
def test_acknowledged_article_is_stored_once_after_kill_9(tmp_path: Path, kind: str) -> None:
    acknowledged: set[str] = set()
    for after in (1, 30, 90):
        with writing(kind, str(tmp_path), "one", 5000) as process:
            assert process.stdout is not None
            for _, line in zip(range(after), process.stdout, strict=False):
                acknowledged.add(line.split()[0])
            process.send_signal(signal.SIGKILL)
            # lines printed before the kill are acknowledged, too
            acknowledged.update(line.split()[0] for line in process.stdout if line.endswith("\n"))
    articles, counts = stored(kind, str(tmp_path))
    urls = [article.url for article in articles]
    assert len(acknowledged) >= 90
    assert acknowledged <= set(urls)
    assert len(urls) == len(set(urls)) == counts["articles"]


LIMITED = """
import asyncio, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
from topiccrawl.errors import StorageError
from topiccrawl.model import Article
from topiccrawl.storage.sqlite import SqliteStore

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


def test_file_size_limit_fails_the_save_and_keeps_stored_articles(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    *saved, failure = done.stdout.splitlines()
    assert failure.startswith(f"failed {tmp_path / 'store.sqlite'}: cannot write: ")
    articles, _ = stored("sqlite", str(tmp_path))
    assert sorted(article.url for article in articles) == sorted(saved)
    assert saved


SHARING = """
import sys
from pathlib import Path
from topiccrawl.storage import files
folder = Path(sys.argv[1])
for _ in range(300):
    with files.create(folder, ".urls") as own:
        for left in files.adopt(folder, ".urls"):
            Path(left.name).unlink()
            left.close()
        Path(own.name).unlink()
"""


def test_processes_adopt_no_file_of_another_that_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SHARING, str(tmp_path)]
    with ExitStack() as stack:
        running = [stack.enter_context(subprocess.Popen(command)) for _ in range(3)]
        assert [one.wait(PATIENCE) for one in running] == [0, 0, 0]
