"""Marks over HTTP: bounded bodies, fields and numbers."""

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
GOOD = {"topic": TOPIC, "url": "http://a.test/1", "wanted": "yes"}


def served(data: Path, act: Callable[[Post], Awaitable[None]]) -> None:
    """Act on a server of marks of a topic with a sample of nine pages."""

    async def serve() -> None:
        values = Settings()
        values.setmodule("topiccrawl.settings", priority="project")
        values.set("TOPICCRAWL_DATA_DIR", str(data), priority="cmdline")
        async with MarkStore.opened(values, TOPIC) as marks:
            pages = [Mark(f"http://a.test/{number}", "题", "文") for number in range(9)]
            await marks.put_pages(9, pages)
        CrawlLog(data).begin(TOPIC, "f1", 0.0)
        told = Library(values)
        guard = Guard(Address("127.0.0.1", 0))
        app = web.Application(middlewares=[guard.middleware, errors_as_json])
        app.add_routes(told.routes())
        async with TestClient(TestServer(app)) as client:

            async def post(body: Any, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                sent = {HEADER: "1", "Host": "127.0.0.1", **(headers or {})}
                async with client.post("/api/marks", data=data, headers=sent) as answer:
                    return answer.status, await answer.text()

            await act(post)
        await told.close()

    asyncio.run(serve())


def kept(data: Path) -> list[str]:
    async def read() -> list[str]:
        async with MarkStore.opened({"TOPICCRAWL_DATA_DIR": str(data)}, TOPIC) as marks:
            return sorted(await marks._sites.get(marks._marks))

    return asyncio.run(read())


def test_marks_of_a_topic_are_bounded_and_old_ones_can_be_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "MAX_MARKS", 3)

    async def act(post: Post) -> None:
        for number in range(3):
            assert (await post({**GOOD, "url": f"http://a.test/{number}"}))[0] == 200
        status, text = await post({**GOOD, "url": "http://a.test/8"})
        assert (status, "3 marks" in text) == (400, True)
        assert (await post({**GOOD, "wanted": "no"}))[0] == 200
        assert (await post({**GOOD, "wanted": "none"}))[0] == 200
        assert (await post({**GOOD, "url": "http://a.test/8"}))[0] == 200

    served(tmp_path, act)


def test_to_remove_a_mark_that_is_not_there_stores_nothing(tmp_path: Path) -> None:
    async def act(post: Post) -> None:
        for number in range(5):
            body = {**GOOD, "url": f"http://nowhere.test/{number}", "wanted": "none"}
            assert (await post(body))[0] == 200

    served(tmp_path, act)
    assert kept(tmp_path) == []


WRONG: tuple[Any, ...] = (
    b"", b"{", b"[" * 20_000, b'{"a":' + b"9" * 5000 + b"}", b"\xff", [], 7, None, {}, "yes",
    {**GOOD, "wanted": "maybe"}, {**GOOD, "wanted": ["yes"]}, {**GOOD, "wanted": None},
    {**GOOD, "topic": "/etc/passwd"}, {**GOOD, "topic": {}}, {**GOOD, "topic": "x" * 30_000},
    {**GOOD, "url": "x" * 30_000}, {**GOOD, "url": 7}, {**GOOD, "url": "http://nowhere.test/"},
)  # fmt: skip


def test_a_wrong_body_is_refused_with_the_reason(tmp_path: Path) -> None:
    async def act(post: Post) -> None:
        for body in WRONG:
            status, text = await post(body)
            assert status == 400, (body, text)
            assert json.loads(text)["error"]
        for charset in ("zap", "zlib", "idna", "punycode"):
            odd = {"Content-Type": f"application/json; charset={charset}"}
            assert (await post(GOOD, odd))[0] == 200, charset

    served(tmp_path, act)


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bodies=st.lists(st.binary() | _JSON | st.fixed_dictionaries(
    {name: _JSON | st.just(value) for name, value in GOOD.items()}), min_size=20))  # fmt: skip
def test_any_body_is_taken_or_refused(tmp_path: Path, bodies: list[Any]) -> None:
    async def act(post: Post) -> None:
        for body in bodies:
            assert (await post(body))[0] in {200, 400}, body

    served(tmp_path, act)


def test_a_body_that_does_not_come_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
