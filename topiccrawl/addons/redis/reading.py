"""A crawl in Redis, read by somebody who is no node: nothing is changed, nobody is disturbed."""

from __future__ import annotations

import random
import shutil
import tempfile
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError
from typing_extensions import override

from topiccrawl.addons.redis.about import checked
from topiccrawl.addons.redis.buckets import BUCKETS
from topiccrawl.addons.redis.copy import WorkingCopy
from topiccrawl.addons.redis.frontier import base_of
from topiccrawl.addons.redis.part import PIECE
from topiccrawl.addons.redis.record import RecordingStore
from topiccrawl.addons.redis.wire import Call, Wire, address, trouble
from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import GroupStats, Limits, Politeness
from topiccrawl.frontier.state import State
from topiccrawl.frontier.view import View

if TYPE_CHECKING:
    import redis

    from topiccrawl.addons.redis.wire import Steps
    from topiccrawl.frontier.contract import Strategy


class SharedView(View):
    """What a crawl in Redis held when it was read; its copy is deleted at ``close``."""

    folder: str

    @override
    def close(self) -> None:
        """Delete the copy; twice equals once."""
        super().close()
        shutil.rmtree(self.folder, ignore_errors=True)


def strategy_in(client: redis.Redis, name: str) -> str:
    """Name of the strategy that a crawl in Redis was made with.

    Raises:
        StateVersionError: Another version of the program began it.
        StorageError: There is no such crawl, or Redis cannot be reached.
    """
    return str(_about(client, name)["strategy"])


def owner_in(client: redis.Redis, name: str) -> str:
    """Whose a crawl in Redis is.

    Raises:
        StateVersionError: Another version of the program began it.
        StorageError: There is no such crawl, or Redis cannot be reached.
    """
    return str(_about(client, name)["owner"])


def _about(client: redis.Redis, name: str) -> dict[str, Any]:
    try:
        about = client.get(base_of(name) + "about")
    except RedisError as error:
        raise trouble(client, error) from error
    if not isinstance(about, bytes):
        raise StorageError(f"{address(client)}: holds no crawl named {name}")
    return checked(f"{address(client)}: {name}", about.decode())


def read(client: redis.Redis, name: str, strategy: Strategy) -> SharedView:
    """A view of all of a crawl, as Redis has it now; what is leased stands in its lane.

    Raises:
        StateVersionError: Another version of the program began it.
        StorageError: There is none, or Redis cannot be reached.
    """
    strategy_in(client, name)
    folder = tempfile.mkdtemp(prefix="topiccrawl-read-")
    store = RecordingStore(folder, sync="never")
    view = SharedView(store, strategy)
    view.folder = folder
    try:
        store.save("owner", owner_in(client, name))
        _fill(client, base_of(name), store, strategy)
    except (StorageError, RedisError) as error:
        view.close()
        raise trouble(client, error) from error
    return view


def _fill(client: redis.Redis, base: str, store: RecordingStore, strategy: Strategy) -> None:
    rng = random.Random(0)  # noqa: S311 - no jitter is drawn
    state = State(store, strategy, Politeness(), Limits(), rng)
    copy = WorkingCopy(state, store, strategy, 0, 0.0)
    wire = Wire(client)
    for bucket in range(BUCKETS):
        cursor = b"0"
        while True:
            cursor, rows, links, first = wire.run(_piece(base, bucket, cursor))
            if first:
                hosts, stats, robots, seen, _ = first
                copy.take_hosts(hosts, stats, robots, None)
                copy.take_seen(seen)
            copy.take_rows(rows, links)
            if cursor == b"0":
                state.commit()
                break
    for label, number in _counters(client, base + "tally").items():
        state.tally[label] = int(number)
    progress = _counters(client, base + "progress")
    pages, worth = int(progress.get("pages", 0)), float(progress.get("worth", 0))
    state.biases.crawl = GroupStats(pages, worth)
    state.turn = int(progress.get("turn", 0))
    state.commit()


def _counters(client: redis.Redis, key: str) -> dict[str, bytes]:
    found: Any = client.hgetall(key)
    return {label.decode(): number for label, number in found.items()}


def _piece(base: str, bucket: int, cursor: bytes) -> Steps[list[Any]]:
    reply: list[Any] = yield Call("load", base, (bucket, cursor, PIECE, 1))
    return reply
