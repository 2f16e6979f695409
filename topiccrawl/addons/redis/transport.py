"""Conversations with Redis and their transports: blocking, or in the event loop.

A conversation is a generator that yields ``Call`` objects and receives their replies.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
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
    """Call of a Lua script.

    Attributes:
        script: Name of the script, a file in ``lua/``.
        base: Prefix of the keys of the crawl.
        arguments: Arguments of the script.
    """

    script: str
    base: str
    arguments: tuple[Argument, ...]


Conversation = Generator[Call, Any, T]


class _Sent(NamedTuple):
    """Conversation whose first call was sent."""

    steps: Conversation[Any]
    call: Call
    connection: redis.Connection


@cache
def script(name: str) -> tuple[str, str]:
    """Return the text of a script and its digest for ``EVALSHA``."""
    text = (files("topiccrawl.addons.redis") / "lua" / f"{name}.lua").read_text(encoding="utf-8")
    return text, sha1(text.encode(), usedforsecurity=False).hexdigest()


def address(client: redis.Redis | AsyncRedis) -> str:
    """Return the address of the server of a client, without the password."""
    known = client.connection_pool.connection_kwargs
    if "path" in known:
        return f"unix://{known['path']}"
    return (
        f"redis://{known.get('host', 'localhost')}:{known.get('port', 6379)}/{known.get('db', 0)}"
    )


def redis_error(client: redis.Redis | AsyncRedis, error: Exception) -> StorageError:
    """Return the error of a failed conversation, with the server and a remedy."""
    return StorageError(
        "{address}: Redis failed ({error}): check that it runs, has "
        "enough memory and allows the connection, or correct REDIS_URL",
        address=address(client),
        error=error,
    )


class Transport:
    """Run conversations one at a time, blocking or with a deferred reply.

    Args:
        client: Client of the server, without decoding of responses.
    """

    def __init__(self, client: redis.Redis) -> None:
        self.client = client
        self._sent: _Sent | None = None

    def run(self, steps: Conversation[T]) -> T:
        """Run a conversation to its end, after one that was sent before; return its result.

        Raises:
            StorageError: If Redis cannot be reached, or rejects one of the conversations.
        """
        self.finish()
        return self._continue(steps, lambda: next(steps))

    def send(self, steps: Conversation[object]) -> None:
        """Send the first call of a conversation; the next method call continues it.

        Raises:
            StorageError: If Redis cannot be reached, or rejects a conversation sent before.
        """
        self.finish()
        call = next(steps)
        connection = None
        try:
            connection = self.client.connection_pool.get_connection()
            _, digest = script(call.script)
            connection.send_command("EVALSHA", digest, 1, call.base, *call.arguments)  # type: ignore[no-untyped-call]
        except RedisError as error:
            if connection is not None:
                self.client.connection_pool.release(connection)
            raise redis_error(self.client, error) from error
        self._sent = _Sent(steps, call, connection)

    def finish(self) -> None:
        """Run a sent conversation to its end, if there is one.

        Raises:
            StorageError: If Redis cannot be reached, or rejects the conversation.
        """
        if (sent := self._sent) is not None:
            self._sent = None
            self._continue(sent.steps, lambda: sent.steps.send(self._reply(sent)))

    def _continue(self, steps: Conversation[T], first: Callable[[], Call]) -> T:
        try:
            call = first()
            while True:
                call = steps.send(self._call(call))
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        except RedisError as error:
            raise redis_error(self.client, error) from error

    def _reply(self, sent: _Sent) -> Any:  # noqa: ANN401 - whatever the script returns
        try:
            return sent.connection.read_response()
        except NoScriptError:
            return self._call(sent.call)
        finally:
            self.client.connection_pool.release(sent.connection)

    def _call(self, call: Call) -> Any:  # noqa: ANN401 - whatever the script returns
        text, digest = script(call.script)
        try:
            return self.client.evalsha(digest, 1, call.base, *call.arguments)
        except NoScriptError:
            return self.client.eval(text, 1, call.base, *call.arguments)


class AsyncTransport:
    """Run conversations in the event loop.

    Args:
        client: Client of the server, without decoding of responses.
    """

    def __init__(self, client: AsyncRedis) -> None:
        self.client = client

    async def run(self, steps: Conversation[T]) -> T:
        """Run a conversation to its end; return its result.

        Raises:
            RedisError: If Redis cannot be reached, or rejects the call; the conversation is closed.
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
