"""Conversations with Redis and their transports: blocking, or in the event loop.

A conversation is a generator that yields ``Call`` objects and receives their replies.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from redis.exceptions import NoScriptError, RedisError

from topiccrawl.errors import StorageAwayError, StorageError
from topiccrawl.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterator

    import redis
    from redis.asyncio import Redis as AsyncRedis

T = TypeVar("T")
Argument = str | bytes | int | float


FAILED = message(
    "{address}: Redis failed ({error}): check that it runs, has "
    "enough memory and allows the connection, or correct REDIS_URL"
)
"""Error of a failed command, with a remedy; see ``translated``."""


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
        text, _ = script(self.script)
        return client.register_script(text)((self.base,), self.arguments)


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
        return f"unix://{known['path']}"
    return (
        f"redis://{known.get('host', 'localhost')}:{known.get('port', 6379)}/{known.get('db', 0)}"
    )


@contextmanager
def translated(
    text: str,
    kind: type[StorageError] = StorageAwayError,
    **values: Any,  # noqa: ANN401
) -> Iterator[None]:
    """Raise errors of Redis as ``kind``; the message may contain ``{error}`` and the values."""
    try:
        yield
    except RedisError as error:
        raise kind(text, error=error, **values) from error


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
        return self._converse(steps)

    def send(self, steps: Conversation[object]) -> None:
        """Send the first call of a conversation; the next method call continues it.

        Raises:
            StorageError: If Redis cannot be reached, or rejects a conversation sent before.
        """
        self.finish()
        call = next(steps)
        pool = self.client.connection_pool
        with translated(FAILED, StorageError, address=address(self.client)):
            connection = pool.get_connection()
            try:
                _, digest = script(call.script)
                connection.send_command("EVALSHA", digest, 1, call.base, *call.arguments)  # type: ignore[no-untyped-call]
            except RedisError:
                pool.release(connection)
                raise
        self._sent = _Sent(steps, call, connection)

    def finish(self) -> None:
        """Run a sent conversation to its end, if there is one.

        Raises:
            StorageError: If Redis cannot be reached, or rejects the conversation.
        """
        sent, self._sent = self._sent, None
        if sent is not None:
            self._converse(sent.steps, sent)

    def _converse(self, steps: Conversation[T], sent: _Sent | None = None) -> T:
        with translated(FAILED, StorageError, address=address(self.client)):
            try:
                reply = None if sent is None else self._reply(sent)
                while True:
                    reply = steps.send(reply).on(self.client)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]

    def _reply(self, sent: _Sent) -> Any:  # noqa: ANN401 - whatever the script returns
        try:
            return sent.connection.read_response()
        except NoScriptError:
            return sent.call.on(self.client)
        finally:
            self.client.connection_pool.release(sent.connection)
