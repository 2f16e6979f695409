"""Conversations with Redis, blocking or in the event loop.

A conversation is a generator that yields ``Call`` objects and receives their replies.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import redis
import redis.asyncio
from redis.exceptions import AskError, AuthenticationError, RedisError

from topiccrawl.errors import StorageAwayError, StorageError, translated
from topiccrawl.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from redis.asyncio import Redis as AsyncRedis

T = TypeVar("T")
Argument = str | bytes | int | float


FAILED = message(
    "{address}: Redis failed ({error}): check that it runs, has "
    "enough memory and allows the connection, or correct REDIS_URL"
)
"""Error of a failed command, with a remedy."""
DENIED = message(
    "{address}: Redis refuses the login ({error}): write user and password into REDIS_URL, as in "
    "redis://USER:PASSWORD@HOST:6379/0 (redis://:PASSWORD@… without a user)"
)
"""Error of a missing or wrong password."""
CLUSTER = message(
    "{address}: is a server of a Redis Cluster, and another one has the keys of this crawl "
    "({error}): use a single Redis or Valkey server"
)
"""Error of a command whose keys are on another server of a cluster."""


class Call(NamedTuple):
    """Call of a Lua script.

    Attributes:
        script: Name of the script, a file in ``lua/``.
        base: Prefix of the keys of the crawl.
        arguments: Arguments of the script.
    """

    script: str
    base: str
    arguments: tuple[Argument, ...]

    def on(self, client: redis.Redis | AsyncRedis) -> Any:  # noqa: ANN401 - whatever it returns
        """Run the script; return its reply, or an awaitable of it from an asynchronous client."""
        return client.register_script(script(self.script))((self.base,), self.arguments)


Conversation = Generator[Call, Any, T]


@cache
def script(name: str) -> str:
    """Return the text of a script."""
    return (files("topiccrawl.addons.redis") / "lua" / f"{name}.lua").read_text(encoding="utf-8")


async def run_async(client: AsyncRedis, steps: Conversation[T]) -> T:
    """Run a conversation in the event loop to its end; return its result.

    Raises:
        RedisError: If Redis cannot be reached, or rejects a call.
    """
    reply = None
    try:
        while True:
            reply = await steps.send(reply).on(client)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


def address(client: redis.Redis | AsyncRedis) -> str:
    """Return the address of the server of a client, without the password."""
    known = client.connection_pool.connection_kwargs
    if "path" in known:
        return f"unix://{known['path']}" + (f"?db={known['db']}" if known.get("db") else "")
    secure = issubclass(
        client.connection_pool.connection_class, (redis.SSLConnection, redis.asyncio.SSLConnection)
    )
    host, port, db = known.get("host", "localhost"), known.get("port", 6379), known.get("db", 0)
    host = f"[{host}]" if ":" in host else host
    return f"redis{'s' if secure else ''}://{host}:{port}/{db}"


def eviction_policy(info: Mapping[str, Any]) -> str:
    """Return the policy by which a server evicts keys, from its reply to INFO; "" if it does not.

    >>> eviction_policy({"maxmemory": 1 << 30, "maxmemory_policy": "allkeys-lru"})
    'allkeys-lru'
    """
    policy = str(info.get("maxmemory_policy", ""))
    return policy if info.get("maxmemory") and policy != "noeviction" else ""


def run_blocking(client: redis.Redis, steps: Conversation[T]) -> T:
    """Run a conversation to its end; return its result.

    Raises:
        StorageError: If Redis cannot be reached, or rejects a call.
    """
    reply = None
    with failures_of(client):
        try:
            while True:
                reply = steps.send(reply).on(client)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]


@contextmanager
def failures_of(client: redis.Redis | AsyncRedis) -> Iterator[None]:
    """Raise errors of Redis as StorageError, with the address of the server and a remedy."""
    where = address(client)
    with (
        translated(StorageError, FAILED, (RedisError,), address=where),
        translated(StorageError, DENIED, (AuthenticationError,), address=where),
        translated(StorageError, CLUSTER, (AskError,), address=where),  # also MovedError
    ):
        yield


def away(text: str, **values: object) -> AbstractContextManager[None]:
    """Raise errors of Redis as StorageAwayError; the message may contain ``{error}``."""
    return translated(StorageAwayError, text, (RedisError,), **values)
