"""Which pages are being processed, remembered in Redis even if this process dies the next instant.

A connection of its own that no reply comes back on: a mark costs one write to a socket. What the
operating system has, Redis gets, even if the process is killed at once.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from topiccrawl.nodes.buckets import BUCKETS

if TYPE_CHECKING:
    import redis
    from redis.connection import ConnectionInterface

PATIENCE = 1.0
"""Seconds until a connection that failed is tried again."""


class RedisMarks:
    """Keys of pages whose processing has begun and not ended.

    Args:
        client: Gives the connection.
        base: What the names of the crawl's keys begin with.
        node: Names this node.
    """

    def __init__(self, client: redis.Redis, base: str, node: int) -> None:
        self._client = client
        self._base = base
        self._node = node
        self._marked: set[bytes] = set()
        self._connection: ConnectionInterface | None = None
        self._retry = 0.0

    def left(self) -> set[bytes]:
        """Nothing: what others left comes with their buckets."""
        return set()

    def set(self, key: bytes) -> None:
        """Mark a key; twice equals once."""
        if key not in self._marked:
            self._marked.add(key)
            self._send("HSET", self._name(key), key, self._node)

    def unset(self, key: bytes) -> None:
        """Remove the mark of a key, if there is one."""
        if key in self._marked:
            self._marked.discard(key)
            self._send("HDEL", self._name(key), key)

    def clear(self) -> None:
        """Forget all marks of this process."""
        for key in list(self._marked):
            self.unset(key)

    def close(self) -> None:
        """Forget all marks and close; twice equals once."""
        self.clear()
        self.abandon()

    def abandon(self) -> None:
        """Close and leave the marks as they are, as a killed process does."""
        self._marked.clear()
        if self._connection is not None:
            self._connection.disconnect()  # type: ignore[no-untyped-call]
            self._connection = None

    def _name(self, key: bytes) -> str:
        return f"{self._base}marks:{key[0] % BUCKETS}"

    def _send(self, *command: str | bytes | int) -> None:
        """Write a command; while Redis is away, marks are left out: no page is begun then."""
        if self._connection is None and time.monotonic() < self._retry:
            return
        try:
            connection = self._connection or self._connect()
            _write(connection, *command)
        except RedisError:
            self._retry = time.monotonic() + PATIENCE
            if self._connection is not None:
                self._connection.disconnect()  # type: ignore[no-untyped-call]
                self._connection = None

    def _connect(self) -> ConnectionInterface:
        connection: ConnectionInterface = self._client.connection_pool.make_connection()
        connection.connect()  # type: ignore[no-untyped-call]
        _write(connection, "CLIENT", "REPLY", "OFF")
        self._connection = connection
        return connection


def _write(connection: ConnectionInterface, *command: str | bytes | int) -> None:
    packed = connection.pack_command(*command)  # type: ignore[no-untyped-call]
    connection.send_packed_command(packed, check_health=False)  # type: ignore[no-untyped-call]
