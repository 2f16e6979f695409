"""Tests of requests to receivers that close connections, hang or send unusual responses."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

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


@pytest.mark.parametrize("begin", [b"HTTP/1.1 ", b"HTTP/1.0 200 OK\r\n\r\n"])
def test_closing_ends_a_request_whose_answer_comes_byte_by_byte(begin: bytes) -> None:
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request_line(reader)
        writer.write(begin)
        while not writer.is_closing():
            writer.write(b"a")
            await asyncio.sleep(0.05)
        writer.transport.abort()
        ended.set()

    async def scenario() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        receiver = Receiver(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", SECRET)
        post = asyncio.create_task(asyncio.to_thread(receiver.post, Message("1", b"{}"), 1.0))
        await asyncio.sleep(0.3)  # the answer has begun
        receiver.close()
        await asyncio.wait_for(asyncio.shield(post), 10 * LIMIT)
        server.close()
        await ended.wait()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("120", 120, 120),
        ("date", 1700, 1800),
        ("99999999", 3600, 3600),
        ("9" * 400, 0, 0),
        ("soon", 0, 0),
    ],
)
def test_retry_after_is_at_most_an_hour(header: str, least: float, most: float) -> None:
    value = formatdate(time.time() + 1800, usegmt=True) if header == "date" else header
    head = f"HTTP/1.1 503 Busy\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n"
    (found,) = posted(answering(head.encode(), []))
    assert least <= found.wait <= most


def test_reason_is_shown_without_escape_codes() -> None:
    response = b"HTTP/1.1 400 bad\x1b[31m\r\nContent-Length: 0\r\n\r\n"
    (found,) = posted(answering(response, []))
    assert found.shown == "400 bad\\u001b[31m"
