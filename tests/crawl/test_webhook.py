"""A crawl that is killed sends each stored story once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from lab.demo import DemoServer, generate
from tests.crawl.run import MEASURED, log_of, run, running
from tests.receiver import SECRET, Listener
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.crawl
@pytest.mark.slow
def test_each_story_is_sent_once_despite_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(MEASURED, raising=False)
    monkeypatch.setenv("TOPICCRAWL_WEBHOOK_SECRET", SECRET)
    web, data = generate(3, 120, traps=False, faults=False), tmp_path / "data"
    arguments = ("crawl", "topic", "-a", f"topic={web.topic}", "-a", f"seeds={','.join(web.seeds)}")
    requests = 0

    def unreliable(_url: str) -> int:
        nonlocal requests
        requests += 1
        return 503 if requests % 9 == 6 else 200

    with DemoServer(web) as server, Listener(unreliable) as listener:
        hook = {"TOPICCRAWL_WEBHOOK": listener.url}
        with running(server.proxy, data, *arguments, **hook) as crawl:
            until(lambda: len(listener.taken) >= 3 or crawl.poll() is not None)
            assert crawl.poll() is None, log_of(data).read_text()[-3000:]
            crawl.kill()
        for _ in range(2):
            status, text = run(server.proxy, data, *arguments, **hook)
            assert status == 0, text
            if set(listener.taken) == _stories(data):
                break  # else the first run ended before all were sent
    stories = _stories(data)
    assert set(listener.taken) == stories
    assert len(stories) > 8
    # at the kill the receiver may have had a message whose answer was not read
    assert sum(listener.taken.values()) <= len(stories) + 1
    assert all(len(names) == 1 for names in listener.names.values())
    assert listener.forged == 0


def _stories(data: Path) -> set[str]:
    with closing(sqlite3.connect(data / "store.sqlite")) as store:
        return {url for (url,) in store.execute("SELECT url FROM articles")}
