"""Marks in Redis for pages that are being processed; they survive a crash of this process.

They use a separate connection without replies, so that a mark costs one write to a socket. Redis
receives data that was passed to the operating system even if the process is killed at once.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from redis.exceptions import RedisError
from typing_extensions import override

from topiccrawl.frontier.leases import Marks

if TYPE_CHECKING:
    from collections.abc import Callable

    import redis
    from redis.connection import ConnectionInterface

PATIENCE = 1.0
"""Seconds until a failed connection is retried."""


class RedisMarks(Marks):
    """Keys of pages in processing.

    Args:
        client: Source of the connection.
        base: Prefix of the keys of the crawl.
        epoch: Returns the epoch of the registration of this node; marks end with it.
    """

    def __init__(self, client: redis.Redis, base: str, epoch: Callable[[], int]) -> None:
        self._client = client
        self._base = base
        self._epoch = epoch
        self._marked: dict[bytes, int] = {}
        self._connection: ConnectionInterface | None = None
        self._retry = 0.0

    @override
    def unfinished(self) -> set[bytes]:
        """Return an empty set: Redis counts the marks of crashed processes."""
        return set()

    @override
    def set(self, key: bytes) -> None:
        """Mark a key. Idempotent."""
        epoch = self._epoch()
        if self._marked.get(key) != epoch:
            self._marked[key] = epoch
            self._send("SADD", self._name(epoch), key)

    @override
    def unset(self, key: bytes) -> None:
        """Remove the mark of a key, if there is one."""
        epoch = self._marked.pop(key, None)
        if epoch is not None:
            self._send("SREM", self._name(epoch), key)

    @override
    def clear(self) -> None:
        """Remove all marks of this process."""
        for key in list(self._marked):
            self.unset(key)

    @override
    def close(self) -> None:
        """Remove all marks and close the connection. Idempotent."""
        self.clear()
        self.abandon()

    @override
    def abandon(self) -> None:
        """Close the connection and keep the marks, as if the process was killed."""
        self._marked.clear()
        self._disconnect()

    def _name(self, epoch: int) -> str:
        return f"{self._base}marks:{epoch}"

    def _send(self, *command: str | bytes | int) -> None:
        """Send a command; omitted while Redis is away, since no page is leased then."""
        if self._connection is None and time.monotonic() < self._retry:
            return
        try:
            _write(self._connection or self._connect(), *command)
        except RedisError:
            self._retry = time.monotonic() + PATIENCE
            self._disconnect()

    def _disconnect(self) -> None:
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
