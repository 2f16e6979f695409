from __future__ import annotations

import contextlib
import http.client
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from lab.demo import DemoServer, Web
from lab.demo.judge import read_log
from lab.demo.server import came
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab.demo.answers import Answer


Got = tuple[int, dict[str, str], bytes]
"""Status, headers, body."""


class Client:
    """One keep-alive connection to the proxy."""

    def __init__(self, server: DemoServer, timeout: float = PATIENCE) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)

    def get(
        self, url: str, method: str = "GET", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        names = {key.replace("_", "-"): value for key, value in headers.items()}
        self.connection.request(method, url, headers=names)
        response = self.connection.getresponse()
        return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()


Connect = Callable[..., Client]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Opens connections that are closed in the end."""
    with contextlib.ExitStack() as stack:

        def opened(server: DemoServer, timeout: float = PATIENCE) -> Client:
            client = Client(server, timeout)
            stack.callback(client.connection.close)
            return client

        yield opened


@pytest.fixture
def server(web: Web, tmp_path: Path) -> Iterator[DemoServer]:
    with DemoServer(web, log=tmp_path / "access.tsv") as running:
        yield running


def corner(web: Web, name: str) -> str:
    return next(url for url in web.truth if urlsplit(url).path == f"/corner/{name}")


def test_the_proxy_answers_for_every_host_on_one_connection(
    server: DemoServer, web: Web, connect: Connect
) -> None:
    client = connect(server)
    urls = [url for url, truth in web.truth.items() if truth.obtainable and not truth.depth > 1]
    assert len({urlsplit(url).netloc for url in urls}) > 10
    for url in urls[:60]:
        if "slow" not in url and "/corner/" not in url:
            status, headers, body = client.get(url)
            assert status == 200
            assert body == web.answer(url).body
            assert int(headers["content-length"]) == len(body)


def test_origin_form_with_a_host_header_works_too(
    server: DemoServer, web: Web, connect: Connect
) -> None:
    parts = urlsplit(web.seeds[0])
    assert connect(server).get(parts.path, Host=parts.netloc)[0] == 200


def test_what_has_not_changed_is_not_sent_again(
    server: DemoServer, web: Web, connect: Connect
) -> None:
    client = connect(server)
    _, headers, body = client.get(web.seeds[0])
    assert body
    status, _, again = client.get(web.seeds[0], If_None_Match=headers["etag"])
    assert (status, again) == (304, b"")
    assert client.get(web.seeds[0], If_None_Match='"other"')[0] == 200


def test_head_has_no_body_and_post_no_meaning(
    server: DemoServer, web: Web, connect: Connect
) -> None:
    client = connect(server)
    status, headers, body = client.get(web.seeds[0], method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["content-length"]) > 0
    assert client.get(web.seeds[0], method="POST")[0] == 405
    assert client.get(web.seeds[0])[0] == 200


def test_flaky_pages_are_counted_by_the_server(
    server: DemoServer, web: Web, connect: Connect
) -> None:
    client = connect(server)
    url = corner(web, "flaky.html")
    assert [client.get(url)[0] for _ in range(3)] == [503, 503, 200]


def test_connections_break_and_hang_as_truth_says(
    server: DemoServer, web: Web, connect: Connect
) -> None:
    with pytest.raises(http.client.IncompleteRead):
        connect(server).get(corner(web, "cut.html"))
    with pytest.raises(http.client.RemoteDisconnected):
        connect(server).get(corner(web, "drop.html"))
    with pytest.raises(http.client.RemoteDisconnected):
        connect(server).get("http://www.dropped.example/")
    with pytest.raises(TimeoutError):
        connect(server, timeout=0.3).get(corner(web, "hang.html"))
    assert connect(server).get(web.seeds[0])[0] == 200


def test_a_slow_host_is_slow_and_others_answer_meanwhile(
    server: DemoServer, web: Web, connect: Connect
) -> None:
    began = time.monotonic()
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(connect(server).get, "http://www.slow.example/")
        connect(server).get(web.seeds[0])
        assert slow.result()[0] == 200
    assert time.monotonic() - began > 0.7


def test_malformed_request_ends_only_its_connection(
    server: DemoServer, web: Web, connect: Connect
) -> None:
    for rubbish in (b"\x00\xff\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1 x y\r\n\r\n"):
        client = connect(server)
        client.connection.connect()
        client.connection.sock.sendall(rubbish)
        assert client.connection.sock.recv(10) == b""
        client.connection.close()
    assert connect(server).get(web.seeds[0])[0] == 200


def test_every_request_is_logged(server: DemoServer, web: Web, connect: Connect) -> None:
    client = connect(server)
    client.get(web.seeds[0])
    client.get("http://www.refused.example/")
    with pytest.raises(http.client.RemoteDisconnected):
        connect(server).get(corner(web, "drop.html"))
    assert server.log is not None
    fetches = read_log(server.log)
    assert [f.status for f in fetches] == [200, 502, 0]
    assert fetches[0].url == web.seeds[0]
    assert fetches[0].size == len(web.answer(web.seeds[0]).body)
    assert fetches[0].port == fetches[1].port != fetches[2].port
    assert 0 <= fetches[0].at <= fetches[1].at < 60


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's count is Linux'")
def test_a_request_came_when_it_came_however_late_it_is_read(web: Web, connect: Connect) -> None:
    class Busy:
        sent, entered = threading.Event(), threading.Event()
        free_at = 0.0

        def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:
            self.entered.set()
            assert self.sent.wait(60)
            self.free_at = self.free_at or time.monotonic()
            return web.answer(url, visit, cookie)

    busy, asked = Busy(), dict[str, float]()
    first, second = web.seeds[0], web.seeds[0] + "robots.txt"
    with DemoServer(busy) as server:
        server.asked = asked.__setitem__
        waiting = threading.Thread(target=connect(server, timeout=60).get, args=(first,))
        waiting.start()
        assert busy.entered.wait(60)
        client = connect(server, timeout=60)
        sent_at = time.monotonic()
        client.connection.request("GET", second)
        time.sleep(0.1)
        busy.sent.set()
        client.connection.getresponse().read()
        waiting.join()
    assert sent_at - 0.01 <= asked[second] < busy.free_at


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's count is Linux'")
def test_a_reading_of_the_kernels_count_that_was_interrupted_is_repeated() -> None:
    arrived = time.monotonic() - 1.0

    class Interrupted:
        pauses = iter([0.1])

        def getsockopt(self, _level: int, _option: int, size: int) -> bytes:
            silent = round(1000 * (time.monotonic() - arrived))
            time.sleep(next(self.pauses, 0.0))
            return struct.pack("I", silent).rjust(size, b"\0")

    assert came(Interrupted()) == pytest.approx(arrived, abs=0.01)  # type: ignore[arg-type]


def test_errors_on_request(web: Web, connect: Connect) -> None:
    def statuses(seed: int) -> list[int]:
        with DemoServer(web, error_rate=0.3, seed=seed) as server:
            client = connect(server)
            return [client.get(web.seeds[0])[0] for _ in range(60)]

    first = statuses(1)
    assert set(first) == {200, 503}
    assert 6 < first.count(503) < 30
    assert first == statuses(1)
    assert first != statuses(2)


def test_a_server_stops_with_clients_open(web: Web) -> None:
    with DemoServer(web, latency=0.01) as server:
        client = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
        client.sendall(f"GET {web.seeds[0]} HTTP/1.1\r\n\r\n".encode())
        answer = client.makefile("rb")
        assert answer.readline() == b"HTTP/1.1 200 OK\r\n"
    answer.read()  # to the end: the server has closed the connection
    client.close()


def test_a_taken_port_is_an_error_at_once(server: DemoServer, web: Web) -> None:
    with pytest.raises(OSError, match="address already in use"), DemoServer(web, port=server.port):
        pytest.fail("two servers on one port")
