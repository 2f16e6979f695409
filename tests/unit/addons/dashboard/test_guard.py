"""Tests of access to the dashboard, with a real server and real sockets."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp import web
from scrapy.settings import Settings

from tests.waiting import PATIENCE
from topiccrawl.addons.dashboard.address import Address, address_of
from topiccrawl.addons.dashboard.guard import COOKIE, HEADER, Guard, guard_of
from topiccrawl.addons.dashboard.server import DashboardServer
from topiccrawl.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from topiccrawl.storage.contract import Listed
    from topiccrawl.storage.runs import State

TOKEN = "right-token"  # noqa: S105
PATHS = ("/", "/static/app.js", "/api/state", "/api/articles", "/api/more", "/metrics", "/nothing")


class NoRuns:
    """A source without runs and articles."""

    async def state(self, crawl: str) -> State:
        return {"run": {"topic": "t"}}

    async def states(self) -> list[State]:
        return []

    async def articles(self, crawl: str, offset: int, limit: int) -> tuple[int, list[Listed]]:
        return 0, []

    async def more(self, crawl: str) -> State:
        return {}


class ActionCounter:
    """Count the requests that reach an action."""

    def __init__(self) -> None:
        self.done = 0

    async def act(self, _request: web.Request) -> web.Response:
        self.done += 1
        return web.json_response({"done": True})


def other_address() -> str | None:
    """Return an address of this machine that is not loopback, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            return None
        name = str(one.getsockname()[0])
    return None if name.startswith("127.") else name


@asynccontextmanager
async def serving(
    host: str = "127.0.0.1", token: str = "", names: tuple[str, ...] = ()
) -> AsyncIterator[tuple[int, ActionCounter, aiohttp.ClientSession]]:
    actions = ActionCounter()
    guard = Guard(Address(host, 0), token, names)
    server = DashboardServer(NoRuns(), guard, [web.post("/api/act", actions.act)])
    await server.start()
    try:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
            yield server.address.port, actions, session
    finally:
        await server.stop()


def test_other_address_without_token_gets_401() -> None:
    other = other_address()
    if other is None:
        pytest.skip("this machine has no address but loopback")

    async def check() -> None:
        async with serving("0.0.0.0", TOKEN) as (port, actions, session):  # noqa: S104
            base = f"http://{other}:{port}"
            for path in PATHS:
                async with session.get(base + path) as answer:
                    assert answer.status == 401, path
                    assert "topic" not in await answer.text()
                async with session.get(base + path, headers={"Host": "evil.test"}) as answer:
                    assert answer.status == 401, "under whatever name"
            async with session.post(base + "/api/act", headers={HEADER: "1"}) as answer:
                assert answer.status == 401
            async with session.get(base + "/?token=wrong", allow_redirects=False) as answer:
                assert answer.status == 401
            for header in ("Authorization: Bearer \xff", f"Cookie: {COOKIE}=\xff"):
                reader, writer = await asyncio.open_connection(other, port)
                writer.write(
                    f"GET / HTTP/1.1\r\nHost: {other}\r\n{header}\r\n\r\n".encode("latin-1")
                )
                assert b" 401 " in await reader.readline()
                writer.close()
            assert not actions.done

    asyncio.run(check())


def test_public_server_without_token_admits_only_loopback() -> None:
    other = other_address()
    if other is None:
        pytest.skip("this machine has no address but loopback")

    async def check() -> None:
        async with serving("0.0.0.0") as (port, _, session):  # noqa: S104
            async with session.get(f"http://{other}:{port}/api/state") as answer:
                assert answer.status == 401
            async with session.get(f"http://127.0.0.1:{port}/api/state") as answer:
                assert answer.status == 200

    asyncio.run(check())


@pytest.mark.parametrize(
    "headers", [{"X-Forwarded-For": "203.0.113.9"}, {"Via": "1.1 p"}, {"Forwarded": "for=x"}]
)
def test_forwarded_request_does_not_count_as_loopback(headers: dict[str, str]) -> None:
    async def check() -> None:
        async with (
            serving() as (port, _, session),
            session.get(f"http://127.0.0.1:{port}/", headers=headers) as answer,
        ):
            assert answer.status == 401

    asyncio.run(check())


def test_token_is_accepted_by_link_cookie_and_header() -> None:
    async def check() -> None:
        async with serving(token=TOKEN) as (port, actions, session):
            base = f"http://127.0.0.1:{port}"
            async with session.get(f"{base}/?token={TOKEN}", allow_redirects=False) as answer:
                assert (answer.status, answer.headers["Location"]) == (303, "./")
                cookie = answer.headers["Set-Cookie"]
            assert "HttpOnly" in cookie
            assert "SameSite=Strict" in cookie
            assert "Path=" not in cookie, "sent to what else a proxy serves on the host"
            tls = {"X-Forwarded-Proto": "https"}  # from a proxy that terminates TLS
            link = f"{base}/?token={TOKEN}"
            async with session.get(link, headers=tls, allow_redirects=False) as answer:
                assert "Secure" in answer.headers["Set-Cookie"]
            known: dict[str, Any] = {"Cookie": f"{COOKIE}-{port}={TOKEN}"}
            async with session.get(f"{base}/api/state", headers=known) as answer:
                assert answer.status == 200
            known["Authorization"] = "Basic bWU6c2VjcmV0"  # for a proxy in front
            async with session.get(f"{base}/api/state", headers=known) as answer:
                assert answer.status == 200
            bearer = {"Authorization": f"Bearer {TOKEN}", HEADER: "1"}
            async with session.post(f"{base}/api/act", headers=bearer) as answer:
                assert answer.status == 200
            assert actions.done == 1

    asyncio.run(check())


@pytest.mark.parametrize(
    "headers",
    [
        {},  # a form of a foreign page
        {"Content-Type": "text/plain"},
        {HEADER: "1", "Origin": "http://evil.test"},
        {HEADER: "1", "Origin": "null"},
        {HEADER: "1", "Origin": "http://[::1"},
        {HEADER: "1", "Origin": "http://\u2100.test"},
        {HEADER: "1", "Sec-Fetch-Site": "cross-site"},
        {HEADER: "1", "Sec-Fetch-Site": "same-site"},
        {HEADER: "1", "Host": "evil.test"},  # DNS rebinding
    ],
)
@pytest.mark.parametrize("token", ["", TOKEN])
def test_cross_site_request_is_refused(headers: dict[str, str], token: str) -> None:
    async def check() -> None:
        async with serving(token=token) as (port, actions, session):
            known = {**headers, "Cookie": f"{COOKIE}-{port}={token}"}
            url = f"http://127.0.0.1:{port}/api/act"
            async with session.post(url, headers=known) as answer:
                assert answer.status in {403, 421}
            for method in ("GET", "OPTIONS", "PUT"):
                async with session.request(method, url, headers=known) as answer:
                    assert answer.status in {403, 405, 421}
                    assert "Access-Control-Allow-Origin" not in answer.headers
            assert not actions.done

    asyncio.run(check())


def test_same_origin_request_is_accepted() -> None:
    async def check() -> None:
        async with serving() as (port, actions, session):
            own = {
                HEADER: "1",
                "Origin": f"http://127.0.0.1:{port}",
                "Sec-Fetch-Site": "same-origin",
            }
            async with session.post(f"http://127.0.0.1:{port}/api/act", headers=own) as answer:
                assert answer.status == 200
            assert actions.done == 1

    asyncio.run(check())


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])  # noqa: S104
def test_generated_token_is_in_the_url(host: str) -> None:
    guard = guard_of(Settings(), Address(host, 0))
    assert len(guard.token) > 30
    assert DashboardServer(NoRuns(), guard).url.endswith(f"/?token={guard.token}")


def test_loopback_needs_no_token_if_disabled() -> None:
    guard = guard_of(Settings({"TOPICCRAWL_DASHBOARD_TOKEN": "off"}), Address("127.0.0.1", 0))
    assert guard.token == ""
    assert "token" not in DashboardServer(NoRuns(), guard).url


def test_servers_on_one_host_have_separate_cookies() -> None:
    """Browsers send the cookies of a host to all of its ports."""

    async def check() -> None:
        names = set()
        for _ in range(2):
            async with serving(token=TOKEN) as (port, _, session):
                link = f"http://127.0.0.1:{port}/?token={TOKEN}"
                async with session.get(link, allow_redirects=False) as answer:
                    names |= set(answer.cookies)
                known = {"Cookie": f"{COOKIE}-{port}={TOKEN}"}
                async with session.get(
                    f"http://127.0.0.1:{port}/api/state", headers=known
                ) as answer:
                    assert answer.status == 200
        assert len(names) == 2

    asyncio.run(check())


def test_large_bodies_are_refused() -> None:
    async def read(request: web.Request) -> web.Response:
        return web.json_response({"bytes": len(await request.read())})

    async def check() -> None:
        server = DashboardServer(
            NoRuns(), Guard(Address("127.0.0.1", 0)), [web.post("/api/act", read)]
        )
        await server.start()
        sent = {HEADER: "1"}
        url = f"http://127.0.0.1:{server.address.port}/api/act"
        async with aiohttp.ClientSession() as session:
            for size, status in ((1000, 200), (100_000, 413)):
                async with session.post(url, data=b"x" * size, headers=sent) as answer:
                    assert answer.status == status
        await server.stop()

    asyncio.run(check())


@pytest.mark.parametrize("end", ["5\r\nabcde\r\n0\r\n\r\n", "5\r\nab"])
def test_body_that_cannot_be_read_is_refused_and_not_logged(
    end: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def check() -> None:
        async with serving() as (port, actions, _session):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"POST /api/act HTTP/1.1\r\nHost: localhost\r\n{HEADER}: 1\r\n"
            packed = "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
            writer.write(f"{head}{packed}{end}".encode())
            if end.endswith("\r\n"):
                assert b" 400 " in await asyncio.wait_for(reader.readline(), PATIENCE)
            await asyncio.sleep(0.1)
            writer.close()
            await asyncio.sleep(0.1)
            assert not actions.done

    asyncio.run(check())
    assert not caplog.records


def test_idle_connections_are_limited_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topiccrawl.addons.dashboard.server.IDLE_TIMEOUT", 0.5)
    monkeypatch.setattr("topiccrawl.addons.dashboard.server.MAX_CONNECTIONS", 3)

    async def check() -> None:
        async with serving() as (port, _, session):
            held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
            for _, writer in held[:2]:
                writer.write(b"GET / HTTP/1.1\r\nHost: local")  # an incomplete request
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
            writer.close()
            for reader, writer in held:
                assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
                writer.close()
            async with session.get(f"http://127.0.0.1:{port}/api/state") as answer:
                assert answer.status == 200

    asyncio.run(check())


def test_unknown_host_headers_are_refused() -> None:
    async def check() -> None:
        async with serving(names=("crawl.test",)) as (port, _, session):
            for name, status in (("evil.test", 421), ("crawl.test", 200), (f"[::1]:{port}", 200)):
                url = f"http://127.0.0.1:{port}/api/state"
                async with session.get(url, headers={"Host": name}) as answer:
                    assert answer.status == status, name

    asyncio.run(check())


def test_names_and_token_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPICCRAWL_DASHBOARD_NAMES", "dashboard,")
    monkeypatch.setenv("TOPICCRAWL_DASHBOARD_TOKEN", TOKEN)
    guard = guard_of(Settings(), Address("0.0.0.0", 0))  # noqa: S104
    assert guard.token == TOKEN
    assert TOKEN not in DashboardServer(NoRuns(), guard).url, "a secret that is kept is not logged"

    async def check() -> None:
        server = DashboardServer(NoRuns(), guard)
        await server.start()
        headers = {"Host": "dashboard:8420", "Authorization": f"Bearer {TOKEN}"}
        url = f"http://127.0.0.1:{server.address.port}/api/state"
        async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
            assert answer.status == 200
        await server.stop()

    asyncio.run(check())


@pytest.mark.parametrize(
    "line", [f"GET /?token={TOKEN} HTTP/9.9", f"BLAH {TOKEN}", "GET / HTTP/1.1"]
)
def test_malformed_request_is_not_logged(line: str, caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        async with serving(token=TOKEN) as (port, _, _session):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"{line}\r\n\x00bad\r\n\r\n".encode())
            assert b" 400 " in await asyncio.wait_for(reader.readline(), PATIENCE)
            writer.close()

    with caplog.at_level(logging.DEBUG):
        asyncio.run(check())
    assert TOKEN not in caplog.text
    assert "bad" not in caplog.text


def test_every_response_has_security_headers() -> None:
    async def check() -> None:
        async with serving() as (port, _, session):
            for path in PATHS:
                async with session.get(f"http://127.0.0.1:{port}{path}") as answer:
                    policy = answer.headers["Content-Security-Policy"]
                    assert "default-src 'none'" in policy
                    assert "unsafe" not in policy
                    assert answer.headers["X-Content-Type-Options"] == "nosniff"

    asyncio.run(check())


@pytest.mark.parametrize(
    "path",
    [
        "..%2Fserver.py",
        "../server.py",
        "%2e%2e%2fguard.py",
        "x.py",
        "",
        f"{'a' * 300}.js",
        f"{'%E6%96%B0' * 99}.js",
    ],
)
def test_other_static_paths_are_answered_with_404(path: str) -> None:
    async def check() -> None:
        async with serving() as (port, _, session):
            url = f"http://127.0.0.1:{port}/static/{path}"
            async with session.get(url) as answer:
                assert answer.status == 404

    asyncio.run(check())


@pytest.mark.parametrize(
    "text",
    ["here", "1.2.3.4", "70000", "a:b", ":", "-1", "[::1", "::1", "[::1]", "[a:b]:1", "[[::1]]:1"],
)
def test_invalid_address_is_an_error(text: str) -> None:
    with pytest.raises(SettingError, match="TOPICCRAWL_DASHBOARD"):
        address_of(text)


def test_ipv6_address_is_written_in_brackets() -> None:
    assert address_of("[::1]:80") == Address("::1", 80)
