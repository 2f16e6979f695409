"""Tests of marks over HTTP: limits of bodies, fields and numbers."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scrapy.settings import Settings

from topiccrawl.addons.dashboard import guard as guards
from topiccrawl.addons.dashboard import library
from topiccrawl.addons.dashboard.address import Address
from topiccrawl.addons.dashboard.channel import errors_as_json
from topiccrawl.addons.dashboard.guard import HEADER, Guard
from topiccrawl.addons.dashboard.library import Library
from topiccrawl.model import Mark
from topiccrawl.storage.crawls import CrawlLog
from topiccrawl.storage.sites import MarkStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    import pytest

    Post = Callable[..., Awaitable[tuple[int, str]]]

TOPIC = "电动汽车"
VALID = {"topic": TOPIC, "url": "http://a.test/1", "wanted": "yes"}


def with_server(data: Path, act: Callable[[Post], Awaitable[None]]) -> None:
    """Call `act` with a server of marks; the topic has a sample of nine pages."""

    async def serve() -> None:
        values = Settings()
        values.setmodule("topiccrawl.settings", priority="project")
        values.set("TOPICCRAWL_DATA_DIR", str(data), priority="cmdline")
        async with MarkStore.opened(values, TOPIC) as marks:
            pages = [Mark(f"http://a.test/{number}", "题", "文") for number in range(9)]
            await marks.put_pages(9, pages)
        CrawlLog(data).begin(TOPIC, "f1", 0.0)
        marks_library = Library(values)
        guard = Guard(Address("127.0.0.1", 0))
        app = web.Application(middlewares=[guard.middleware, errors_as_json])
        app.add_routes(marks_library.routes())
        async with TestClient(TestServer(app)) as client:

            async def post(body: Any, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                sent = {HEADER: "1", "Host": "127.0.0.1", **(headers or {})}
                async with client.post("/api/marks", data=data, headers=sent) as answer:
                    return answer.status, await answer.text()

            await act(post)
        await marks_library.close()

    asyncio.run(serve())


def stored_marks(data: Path) -> list[str]:
    async def read() -> list[str]:
        async with MarkStore.opened({"TOPICCRAWL_DATA_DIR": str(data)}, TOPIC) as marks:
            return sorted(await marks._sites.get(marks._marks))

    return asyncio.run(read())


def test_marks_of_a_topic_are_limited_and_can_be_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "MAX_MARKS", 3)

    async def act(post: Post) -> None:
        for number in range(3):
            assert (await post({**VALID, "url": f"http://a.test/{number}"}))[0] == 200
        status, text = await post({**VALID, "url": "http://a.test/8"})
        assert (status, "3 marks" in text) == (400, True)
        assert (await post({**VALID, "wanted": "no"}))[0] == 200
        assert (await post({**VALID, "wanted": "none"}))[0] == 200
        assert (await post({**VALID, "url": "http://a.test/8"}))[0] == 200

    with_server(tmp_path, act)


def test_removal_of_a_missing_mark_stores_nothing(tmp_path: Path) -> None:
    async def act(post: Post) -> None:
        for number in range(5):
            body = {**VALID, "url": f"http://nowhere.test/{number}", "wanted": "none"}
            assert (await post(body))[0] == 200

    with_server(tmp_path, act)
    assert stored_marks(tmp_path) == []


INVALID: tuple[Any, ...] = (
    b"", b"{", b"[" * 20_000, b'{"a":' + b"9" * 5000 + b"}", b"\xff", [], 7, None, {}, "yes",
    {**VALID, "wanted": "maybe"}, {**VALID, "wanted": ["yes"]}, {**VALID, "wanted": None},
    {**VALID, "topic": "\ud800"}, {**VALID, "url": "http://a.test/\udfff"},
    {**VALID, "topic": "/etc/passwd"}, {**VALID, "topic": {}}, {**VALID, "topic": "x" * 30_000},
    {**VALID, "url": "x" * 30_000}, {**VALID, "url": 7}, {**VALID, "url": "http://nowhere.test/"},
)  # fmt: skip


def test_invalid_body_is_refused_with_a_reason(tmp_path: Path) -> None:
    async def act(post: Post) -> None:
        for body in INVALID:
            status, text = await post(body)
            assert status == 400, (body, text)
            assert json.loads(text)["error"]
        for charset in ("zap", "zlib", "idna", "punycode"):
            odd = {"Content-Type": f"application/json; charset={charset}"}
            assert (await post(VALID, odd))[0] == 200, charset

    with_server(tmp_path, act)


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bodies=st.lists(st.binary() | _JSON | st.fixed_dictionaries(
    {name: _JSON | st.just(value) for name, value in VALID.items()}), min_size=20))  # fmt: skip
def test_any_body_is_accepted_or_refused(tmp_path: Path, bodies: list[Any]) -> None:
    async def act(post: Post) -> None:
        for body in bodies:
            assert (await post(body))[0] in {200, 400}, body

    with_server(tmp_path, act)


def test_slow_body_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "BODY_TIMEOUT", 0.2)

    async def slow() -> Any:
        yield b"{"
        await asyncio.sleep(60)

    async def serve() -> None:
        app = web.Application(middlewares=[Guard(Address("127.0.0.1", 0)).middleware])
        app.add_routes(Library(Settings({"TOPICCRAWL_DATA_DIR": str(tmp_path)})).routes())
        async with TestClient(TestServer(app)) as client:
            sent = {HEADER: "1", "Host": "127.0.0.1"}
            async with client.post("/api/marks", data=slow(), headers=sent) as answer:
                assert answer.status == 408

    asyncio.run(serve())
