"""Tests of requests to receivers that close connections, hang or send unusual responses."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.receiver import SECRET
from topiccrawl.addons.webhook.outbox import Message
from topiccrawl.addons.webhook.sender import Receiver, Response

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]

LIMIT = 2.0
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def request_line(reader: asyncio.StreamReader) -> str:
    """Read a request with the body ``{}`` and return its first line; "" at the end."""
    with suppress(asyncio.IncompleteReadError, ConnectionError):
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(2)
        return head.partition(b"\r\n")[0].decode()
    return ""


def answering(response: bytes, lines: list[str]) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await request_line(reader):
            lines.append(line)
            writer.write(response)

    return serve


def posted(
    serve: Serve, number: int = 1, *, body: bytes = b"{}", target: str = "/", limit: float = LIMIT
) -> list[Response]:
    """Return the responses to a number of messages."""

    async def serving(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        finally:
            writer.transport.abort()

    async def scenario() -> list[Response]:
        server = await asyncio.start_server(serving, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        receiver = Receiver(f"http://127.0.0.1:{port}{target}", SECRET, timeout=limit)
        messages = [Message(f"{n}", body) for n in range(number)]
        found = [await asyncio.to_thread(receiver.post, one, 1.0) for one in messages]
        receiver.close()
        server.close()
        return found

    return asyncio.run(scenario())


def test_message_is_sent_again_if_an_idle_connection_was_closed() -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await request_line(reader)
        writer.write(OK)
        await request_line(reader)  # the next message gets no response

    assert posted(serve, 5) == [Response(200, "OK")] * 5
    assert connections == 5


def test_receiver_that_reads_no_large_message_times_out() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined] # of streams of asyncio
        await asyncio.sleep(LIMIT)

    (found,) = posted(serve, body=b"x" * 30_000_000, limit=0.05)
    assert (found.status, found.reason) == (0, "timed out")


def test_escapes_of_the_url_are_sent_as_they_are() -> None:
    lines: list[str] = []
    posted(answering(OK, lines), target="/a%2Fb/%7E?sig=%2Frun%2C%20a+b%3D")
    assert lines == ["POST /a%2Fb/%7E?sig=%2Frun%2C%20a+b%3D HTTP/1.1"]


def test_long_headers_of_a_response_are_read() -> None:
    response = b"HTTP/1.1 200 OK\r\nX: " + b"a" * 20_000 + b"\r\nContent-Length: 0\r\n\r\n"
    assert posted(answering(response, [])) == [Response(200, "OK")]


def test_reason_of_a_failure_hides_the_url() -> None:
    (found,) = posted(answering(b"no HTTP\r\n\r\n", []), target="/hook?token=secret")
    assert found.status == 0
    assert "secret" not in found.reason
