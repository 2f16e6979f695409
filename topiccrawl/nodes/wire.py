"""Conversations with Redis, apart from how they are carried: at once, or in the event loop.

A conversation is a generator that yields ``Call``s and is sent their replies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from redis.exceptions import NoScriptError, RedisError

from topiccrawl.errors import StorageError

if TYPE_CHECKING:
    import redis
    from redis.asyncio import Redis as AsyncRedis

T = TypeVar("T")
Argument = str | bytes | int | float


class Call(NamedTuple):
    """One script to run.

    Attributes:
        script: Its name, a file in ``lua/``.
        base: What the names of the crawl's keys begin with.
        arguments: Its arguments.
    """

    script: str
    base: str
    arguments: tuple[Argument, ...]


Steps = Generator[Call, Any, T]


@cache
def script(name: str) -> tuple[str, str]:
    """Text of a script, and the digest by which Redis knows it."""
    text = (files("topiccrawl.nodes") / "lua" / f"{name}.lua").read_text(encoding="utf-8")
    return text, sha1(text.encode(), usedforsecurity=False).hexdigest()


def address(client: redis.Redis | AsyncRedis) -> str:
    """Where a client's server is, without its password."""
    known = client.connection_pool.connection_kwargs
    if "path" in known:
        return f"unix://{known['path']}"
    return (
        f"redis://{known.get('host', 'localhost')}:{known.get('port', 6379)}/{known.get('db', 0)}"
    )


def trouble(client: redis.Redis | AsyncRedis, error: Exception) -> StorageError:
    """The error of a conversation that failed; names the server and the remedy."""
    return StorageError(
        f"{address(client)}: Redis does not answer as it should ({error}): see that it runs, has"
        " room and lets us in, or correct REDIS_URL"
    )


class Wire:
    """Carries conversations at once; the caller waits.

    Args:
        client: Of a server, without decoding of responses.
    """

    def __init__(self, client: redis.Redis) -> None:
        self.client = client

    def run(self, steps: Steps[T]) -> T:
        """Carry a conversation to its end; its result.

        Raises:
            StorageError: Redis cannot be reached, or refuses.
        """
        try:
            call = next(steps)
            while True:
                call = steps.send(self._call(call))
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        except RedisError as error:
            raise trouble(self.client, error) from error

    def _call(self, call: Call) -> Any:  # noqa: ANN401 - whatever the script returns
        text, digest = script(call.script)
        try:
            return self.client.evalsha(digest, 1, call.base, *call.arguments)
        except NoScriptError:
            return self.client.eval(text, 1, call.base, *call.arguments)


class AsyncWire:
    """Carries conversations in the event loop.

    Args:
        client: Of a server, without decoding of responses.
    """

    def __init__(self, client: AsyncRedis) -> None:
        self.client = client

    async def run(self, steps: Steps[T]) -> T:
        """Carry a conversation to its end; its result.

        Raises:
            RedisError: Redis cannot be reached, or refuses; the conversation is closed.
        """
        try:
            call = next(steps)
            while True:
                reply = await self._call(call)
                call = steps.send(reply)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        except (RedisError, asyncio.CancelledError):
            steps.close()
            raise

    async def _call(self, call: Call) -> Any:  # noqa: ANN401 - whatever the script returns
        text, digest = script(call.script)
        try:
            return await self.client.evalsha(digest, 1, call.base, *call.arguments)
        except NoScriptError:
            return await self.client.eval(text, 1, call.base, *call.arguments)
