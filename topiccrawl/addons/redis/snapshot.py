"""Read-only snapshot of a crawl in Redis, for processes that are no nodes."""

from __future__ import annotations

import shutil
import tempfile
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from topiccrawl.addons.redis.buckets import BUCKETS
from topiccrawl.addons.redis.changes import Changes
from topiccrawl.addons.redis.frontier import base_of
from topiccrawl.addons.redis.identity import parse_identity
from topiccrawl.addons.redis.partitions import LOAD_BATCH
from topiccrawl.addons.redis.transport import Call, Conversation, Transport, address, redis_error
from topiccrawl.addons.redis.working_copy import WorkingCopy
from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import Limits, Politeness
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.links.strategies.contract import GroupStats, LinkStrategy

if TYPE_CHECKING:
    import redis


class SharedSnapshot:
    """Snapshot of a crawl in Redis; its local copy is deleted by ``close``.

    Args:
        frontier: Frontier of the local copy.
    """

    def __init__(self, frontier: EmbeddedFrontier) -> None:
        view = frontier.view
        self._frontier = frontier
        self.counts, self.why, self.iterate, self.export = (
            view.counts, view.why, view.iterate, view.export,
        )  # fmt: skip

    def close(self) -> None:
        """Delete the local copy. Idempotent."""
        self._frontier.abandon()
        shutil.rmtree(self._frontier.store.path, ignore_errors=True)


def strategy_in(client: redis.Redis, name: str) -> str:
    """Return the name of the strategy of a crawl in Redis.

    Raises:
        StateVersionError: If another version of the program started it.
        StorageError: If there is no such crawl, or Redis cannot be reached.
    """
    return str(_identity(client, name)["strategy"])


def owner_in(client: redis.Redis, name: str) -> str:
    """Return the owner of a crawl in Redis.

    Raises:
        StateVersionError: If another version of the program started it.
        StorageError: If there is no such crawl, or Redis cannot be reached.
    """
    return str(_identity(client, name)["owner"])


def _identity(client: redis.Redis, name: str) -> dict[str, Any]:
    try:
        identity = client.get(base_of(name) + "about")
    except RedisError as error:
        raise redis_error(client, error) from error
    if not isinstance(identity, bytes):
        raise StorageError(
            "{address}: has no crawl named {name}", address=address(client), name=name
        )
    return parse_identity(f"{address(client)}: {name}", identity.decode())


def read(client: redis.Redis, name: str, strategy: LinkStrategy) -> SharedSnapshot:
    """Return a snapshot of a whole crawl in Redis; leased URLs are shown in their lane.

    Raises:
        StateVersionError: If another version of the program started it.
        StorageError: If there is no such crawl, or Redis cannot be reached.
    """
    strategy_in(client, name)
    folder = tempfile.mkdtemp(prefix="topiccrawl-read-")
    owner = owner_in(client, name)
    copy = EmbeddedFrontier(folder, strategy, Politeness(), Limits(), sync="never", owner=owner)
    view = SharedSnapshot(copy)
    try:
        _fill(client, base_of(name), copy)
    except (StorageError, RedisError) as error:
        view.close()
        raise redis_error(client, error) from error
    return view


def _fill(client: redis.Redis, base: str, frontier: EmbeddedFrontier) -> None:
    frontier.store.feed = changes = Changes()
    copy = WorkingCopy(frontier, changes)
    transport = Transport(client)
    for bucket in range(BUCKETS):
        cursor = b"0"
        while True:
            cursor, rows, links, first = transport.run(_load(base, bucket, cursor))
            if first:
                hosts, stats, robots, seen, _ = first
                copy.take_hosts(hosts, stats, robots, None)
                copy.take_seen(seen)
            copy.take_rows(rows, links)
            if cursor == b"0":
                frontier.write()
                break
    for label, number in _counters(client, base + "tally").items():
        frontier.queues.tally[label] = int(number)
    progress = _counters(client, base + "progress")
    pages, worth = int(progress.get("pages", 0)), float(progress.get("worth", 0))
    frontier.ready.crawl = GroupStats(pages, worth)
    frontier.dispatch.turn = int(progress.get("turn", 0))
    frontier.write()


def _counters(client: redis.Redis, key: str) -> dict[str, bytes]:
    found: Any = client.hgetall(key)
    return {label.decode(): number for label, number in found.items()}


def _load(base: str, bucket: int, cursor: bytes) -> Conversation[list[Any]]:
    reply: list[Any] = yield Call("load", base, (bucket, cursor, LOAD_BATCH, 1))
    return reply
