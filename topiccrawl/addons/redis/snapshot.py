"""Read-only snapshot of a crawl in Redis, for processes that are no nodes."""

from __future__ import annotations

import shutil
import tempfile
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from topiccrawl.addons.redis.buckets import BUCKETS
from topiccrawl.addons.redis.changes import Changes
from topiccrawl.addons.redis.frontier import base_of
from topiccrawl.addons.redis.identity import parse_identity
from topiccrawl.addons.redis.partitions import LOAD_BATCH
from topiccrawl.addons.redis.transport import FAILED, Call, address, translated
from topiccrawl.addons.redis.working_copy import WorkingCopy
from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import Limits, Politeness
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.view import View
from topiccrawl.links.strategies.contract import GroupStats, LinkStrategy

if TYPE_CHECKING:
    import redis


class SharedSnapshot(View):
    """Snapshot of a crawl in Redis; its local copy is deleted by ``close``.

    Args:
        frontier: Frontier of the local copy.
    """

    def __init__(self, frontier: EmbeddedFrontier) -> None:
        super().__init__(frontier.store, frontier.scorer.strategy)
        self._frontier = frontier

    @override
    def close(self) -> None:
        """Delete the local copy. Idempotent."""
        self._frontier.abandon()
        shutil.rmtree(self._frontier.store.path, ignore_errors=True)


def identity_in(client: redis.Redis, name: str) -> dict[str, Any]:
    """Return the identity of a crawl in Redis; see ``crawl_identity``.

    Raises:
        StateVersionError: If another version of the program started it.
        StorageError: If there is no such crawl, or Redis cannot be reached.
    """
    server = address(client)
    with translated(FAILED, StorageError, address=server):
        identity = client.get(base_of(name) + "about")
    if not isinstance(identity, bytes):
        raise StorageError("{address}: has no crawl named {name}", address=server, name=name)
    return parse_identity(f"{server}: {name}", identity.decode())


def read(client: redis.Redis, name: str, strategy: LinkStrategy) -> SharedSnapshot:
    """Return a snapshot of a whole crawl in Redis; leased URLs are shown in their lane.

    Raises:
        StateVersionError: If another version of the program started it.
        StorageError: If there is no such crawl, or Redis cannot be reached.
    """
    owner = identity_in(client, name)["owner"]
    folder = tempfile.mkdtemp(prefix="topiccrawl-read-")
    copy = EmbeddedFrontier(folder, strategy, Politeness(), Limits(), sync="never", owner=owner)
    snapshot = SharedSnapshot(copy)
    try:
        with translated(FAILED, StorageError, address=address(client)):
            _fill(client, base_of(name), copy)
    except StorageError:
        snapshot.close()
        raise
    return snapshot


def _fill(client: redis.Redis, base: str, frontier: EmbeddedFrontier) -> None:
    frontier.store.feed = changes = Changes()
    copy = WorkingCopy(frontier, changes)
    for bucket in range(BUCKETS):
        cursor = None
        while cursor != b"0":
            load = Call("load", base, (bucket, cursor or b"0", LOAD_BATCH, 1))
            cursor, *loaded = load.on(client)
            copy.take(*loaded)
        frontier.write()
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
