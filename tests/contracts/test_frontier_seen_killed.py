"""Test of a crawl with eviction that is killed: no URL is lost or fetched twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
import redis

from tests.contracts.conftest import QUICK
from tests.contracts.strategies import Plain
from topiccrawl.addons.redis.frontier import SharedFrontier, discard
from topiccrawl.frontier.contract import Limits
from topiccrawl.frontier.embedded import EmbeddedFrontier

if TYPE_CHECKING:
    from pathlib import Path

CRAWL = """
    import sys
    import redis
    from tests.contracts.conftest import QUICK
    from tests.contracts.strategies import Plain
    from topiccrawl.frontier.contract import Ending, Limits, Outcome, Seed
    from topiccrawl.frontier.embedded import EmbeddedFrontier
    from topiccrawl.addons.redis.frontier import SharedFrontier
    folder, url = sys.argv[1:]
    limits = Limits(max_known=60, seen_error=1e-6)
    if url:
        client = redis.Redis.from_url(url)
        frontier = SharedFrontier(client, "killed", folder, Plain(), QUICK, limits)
    else:
        frontier = EmbeddedFrontier(folder, Plain(), QUICK, limits, sync="never")
    number = 0
    while True:
        for _ in range(20):
            number += 1
            frontier.push([Seed(f"http://h{number % 7}.cn/{number}")])
            (lease,) = frontier.pop()
            assert frontier.finish(lease, Outcome(Ending.CRAWLED))
        frontier.commit()
        print(number, flush=True)
"""


@pytest.mark.parametrize("kind", ["embedded", "redis"])
def test_killed_crawl_loses_no_url_and_fetches_none_twice(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("redis_url") if kind == "redis" else ""
    done = 0
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CRAWL), str(tmp_path / "f"), url],
        stdout=subprocess.PIPE, text=True,
    ) as crawl:  # fmt: skip
        assert crawl.stdout is not None
        for line in crawl.stdout:
            done = int(line)
            if done >= 500:
                crawl.send_signal(signal.SIGKILL)
    assert crawl.returncode == -signal.SIGKILL
    client = redis.Redis.from_url(url) if url else None
    if client is not None:
        client.delete(
            "{topiccrawl:killed}:nodes", "{topiccrawl}:nodes"
        )  # the killed node times out at once
        frontier: EmbeddedFrontier | SharedFrontier = SharedFrontier(
            client, "killed", tmp_path / "g", Plain(), QUICK, Limits()
        )
    else:
        frontier = EmbeddedFrontier(tmp_path / "f", Plain(), QUICK, Limits(), sync="never")
    again = {lease.url for lease in frontier.pop(99)}
    counts = frontier.counts()
    records = [frontier.why(f"http://h{number % 7}.cn/{number}") for number in range(1, done + 1)]
    assert {known.queue if known is not None else "lost" for known in records} == {
        "crawled",
        "seen",
    }
    assert not again & {known.url for known in records if known is not None}
    assert counts["evicted/crawled"] + counts["crawled"] >= done
    assert counts["known"] <= 80
    frontier.close()
    if client is not None:
        discard(client, "killed")
        client.close()
