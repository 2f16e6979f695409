"""A crawl into MongoDB in which the crawler and the server are killed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from pymongo import MongoClient

from lab.demo import DemoServer, generate
from tests.crawl.run import log_of, run, running
from tests.crawl.run import stored as embedded
from tests.mongo_server import MongoServer
from tests.waiting import until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from lab.demo import Web


def arguments(web: Web) -> tuple[str, ...]:
    return ("crawl", "topic", "-a", f"topic={web.topic}", "-a", f"seeds={','.join(web.seeds)}")


def stored(uri: str) -> Counter[str]:
    """Return the number of documents of each URL, as article or reprint."""
    with MongoClient[dict[str, Any]](uri) as client:
        database = client["topiccrawl"]
        found = [one["_id"] for name in ("articles", "reprints") for one in database[name].find()]
        texts = [one["digest"] for one in database["articles"].find() if one["digest"]]
    assert len(texts) == len(set(texts))
    return Counter(found)


def wait_for(process: subprocess.Popen[bytes], happened: Callable[[], bool], data: Path) -> None:
    def log_tail() -> str:
        return log_of(data).read_text()[-3000:]

    until(lambda: happened() or process.poll() is not None, log_tail)
    assert process.poll() is None, log_tail()


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.crawl
@pytest.mark.slow
def test_kills_of_crawler_and_server_lose_and_double_nothing(tmp_path: Path) -> None:
    web = generate(3, 120, traps=False, faults=False)
    data, log = tmp_path / "data", tmp_path / "access.tsv"
    mongo = MongoServer(tmp_path / "mongo")
    mongo.start()

    def answers() -> int:
        return log.read_bytes().count(b"\n") if log.exists() else 0

    try:
        with DemoServer(web, log=log) as server:
            kept = {"TOPICCRAWL_TRAPS_ENABLED": "0", "TOPICCRAWL_MIN_NORMAL": "0"}
            kept["TOPICCRAWL_SITE_WORDS"] = "0"  # the verdict does not depend on the order of pages
            kept["TOPICCRAWL_LINK_RELEVANCE"] = "0"
            run(server.proxy, tmp_path / "undisturbed", *arguments(web), **kept)
            whole, options = answers(), {**kept, "MONGODB_URI": mongo.uri}
            with running(server.proxy, data, *arguments(web), **options) as crawl:
                wait_for(crawl, lambda: answers() > whole * 5 // 4, data)
                mongo.kill()
                wait_for(crawl, lambda: bool(list((data / "spool").glob("*.jsonl"))), data)
                crawl.kill()  # while articles wait on disk
            mongo.start()
            status, text = run(server.proxy, data, *arguments(web), **options)
        assert status == 0, text
        found = stored(mongo.uri)
    finally:
        mongo.kill()
    assert max(found.values()) == 1
    assert set(found) == _undisturbed(tmp_path / "undisturbed")
    assert list((data / "spool").iterdir()) == []


def _undisturbed(data: Path) -> set[str]:
    urls = set(embedded(data))
    assert len(urls) > 10
    return urls
