"""Tests of the HTTP interface of orders and tasks."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from scrapy.settings import Settings

from tests.waiting import PATIENCE
from topiccrawl.addons.dashboard.channel import errors_as_json
from topiccrawl.addons.tasks.commands.tasks import checker
from topiccrawl.addons.tasks.http import order_routes, spec_in, task_routes
from topiccrawl.addons.tasks.records import Shard, TaskSpec
from topiccrawl.addons.tasks.service import TaskService
from topiccrawl.addons.tasks.session import WorkerSession
from topiccrawl.errors import ConfigurationError
from topiccrawl.scheduler.build import addresses_of
from topiccrawl.storage.ledger import ORDERS, Control, LocalLedger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path


def serve(
    folder: Path, act: Callable[[TestClient[Any, Any]], Awaitable[None]], files: str = ""
) -> None:
    async def served() -> None:
        app = web.Application(middlewares=[errors_as_json])
        ledger = LocalLedger(folder)
        settings = Settings()
        settings.setmodule("topiccrawl.settings", priority="project")
        settings.set("TOPICCRAWL_DATA_DIR", str(folder), priority="cmdline")
        addresses = addresses_of(settings)
        app.add_routes(order_routes(Control(ledger), addresses))
        app.add_routes(task_routes(TaskService(ledger, checker(settings)), addresses, files))
        async with TestClient(TestServer(app)) as client:
            await act(client)

    asyncio.run(served())


async def post(client: TestClient[Any, Any], path: str, body: object = None) -> tuple[int, Any]:
    async with client.post(path, json=body) as answer:
        return answer.status, await answer.json()


def test_crawl_is_paused_resumed_and_slowed(tmp_path: Path) -> None:
    async def act(client: TestClient[Any, Any]) -> None:
        assert await post(client, "/api/orders/nev/speed", {"factor": 0.5}) == (
            200, {"paused": False, "speed": 0.5, "cancelled": 0.0, "urls": [], "worker": ""},
        )  # fmt: skip
        await post(client, "/api/orders/nev/pause")
        async with client.get("/api/orders/nev") as answer:
            reply = await answer.json()
            assert (reply["paused"], reply["speed"]) == (True, 0.5)
        assert (await post(client, "/api/orders/nev/resume"))[1]["paused"] is False

    serve(tmp_path, act)


def test_name_that_no_crawl_can_have_is_refused(tmp_path: Path) -> None:
    async def act(client: TestClient[Any, Any]) -> None:
        for name in ("%2e%2e", "%2e", ".nev", "a%2fb", "a%20b"):
            url = client.make_url("/").with_path(f"/api/orders/{name}/pause", encoded=True)
            async with client.session.post(url) as answer:
                assert answer.status == 400, name
                assert "the name of an order" in (await answer.json())["error"]
        assert await LocalLedger(tmp_path).read(ORDERS) == {ORDERS: {}}

    serve(tmp_path, act)


def test_start_urls_are_queued_and_invalid_ones_rejected(tmp_path: Path) -> None:
    async def act(client: TestClient[Any, Any]) -> None:
        path = "/api/orders/nev/add"
        status, reply = await post(client, path, {"urls": ["HTTP://A.test", "http://a.test/"]})
        assert (status, reply["urls"]) == (200, ["http://a.test/"])
        wrong: list[object] = [
            {}, {"urls": "http://a.test/"}, {"urls": [1]}, {"urls": ["ftp://a.test/"]},
            {"urls": ["http://169.254.169.254/"]}, {"urls": ["http://0x7f.1/"]},
            {"urls": ["http://localhost/"]}, {"urls": ["http://a.test/"] * 101}, {"more": 1},
            {"urls": [f"http://a.test/{'x' * 2000}"]},
        ]  # fmt: skip
        for body in wrong:
            status, reply = await post(client, path, body)
            assert (status, bool(reply["error"])) == (400, True), body
        status, reply = await post(client, "/api/orders/task-7/add", {"urls": ["http://a.test/"]})
        assert "task-7.a.test" in reply["error"]
        for hundred in range(5):
            urls = [f"http://b.test/{hundred}/{number}" for number in range(100)]
            status, reply = await post(client, path, {"urls": urls})
        assert (status, "would be waiting" in reply["error"]) == (400, True)
        async with client.get("/api/orders/nev") as answer:
            assert len((await answer.json())["urls"]) == 401

    serve(tmp_path, act)


def test_worker_of_a_site_is_assigned(tmp_path: Path) -> None:
    spec = {"arguments": {"topic": "足球"}, "sites": ["a.test"]}

    async def act(client: TestClient[Any, Any]) -> None:
        await post(client, "/api/tasks", spec)
        turns = WorkerSession(LocalLedger(tmp_path), 1)
        assert await turns.heartbeat({}) is not None
        path = "/api/tasks/1/assign"
        status, reply = await post(client, path, {"site": "a.test", "worker": turns.name})
        assert (status, reply["sites"][0]["chosen"]) == (200, turns.name)
        for site, worker in (("b.test", turns.name), ("a.test", "unknown"), ("a.test", 1)):
            assert (await post(client, path, {"site": site, "worker": worker}))[0] == 400
        assert (await post(client, path, {"site": "a.test"}))[1]["error"] == "the body needs worker"
        reply = (await post(client, path, {"site": "a.test", "worker": "any"}))[1]
        assert reply["sites"][0]["chosen"] == ""

    serve(tmp_path, act)


def test_invalid_request_is_rejected_with_a_reason(tmp_path: Path) -> None:
    async def act(client: TestClient[Any, Any]) -> None:
        for body in ({}, {"factor": "much"}, {"factor": 1e9}, {"factor": None}):
            status, reply = await post(client, "/api/orders/nev/speed", body)
            assert (status, "speed is" in reply["error"]) == (400, True)
        status, reply = await post(client, "/api/orders/nev/speed", [1])
        assert (status, reply["error"]) == (400, "the body must be a JSON object")
        async with client.post("/api/orders/nev/speed", data=b"\xff") as answer:
            assert answer.status == 400
        for text, charset in ((b"{}", "none-such"), (b"[" * 100_000, "utf-8")):
            kind = {"Content-Type": f"text/plain; charset={charset}"}
            async with client.post("/api/orders/nev/speed", data=text, headers=kind) as answer:
                assert answer.status == 400
        async with client.post("/api/orders/nev/explode") as answer:
            assert answer.status == 404

    serve(tmp_path, act)


def test_unavailable_state_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    async def act(client: TestClient[Any, Any]) -> None:
        assert (await post(client, "/api/orders/nev/pause"))[0] == 503

    serve(tmp_path / "file", act)


def test_task_is_created_controlled_and_removed(tmp_path: Path) -> None:
    spec = {"arguments": {"topic": "足球"}, "sites": ["a.test", "http://b.test/x"], "owner": "甲"}

    async def act(client: TestClient[Any, Any]) -> None:
        status, made = await post(client, "/api/tasks", spec)
        assert (status, made["task"]["id"], made["state"]) == (200, "1", "waiting")
        assert [site["site"] for site in made["sites"]] == ["a.test", "b.test"]
        assert (await post(client, "/api/tasks/1/speed", {"factor": 2}))[1]["speed"] == 2
        assert (await post(client, "/api/tasks/1/pause"))[1]["state"] == "paused"
        assert (await post(client, "/api/tasks/1/remove"))[0] == 400
        assert (await post(client, "/api/tasks/1/cancel"))[1]["state"] == "cancelled"
        async with client.get("/api/tasks") as answer:
            assert [one["state"] for one in await answer.json()] == ["cancelled"]
        async with client.get("/api/workers") as answer:
            assert await answer.json() == []
        assert (await post(client, "/api/tasks/1/remove"))[0] == 200
        async with client.get("/api/tasks/1") as answer:
            assert answer.status == 400

    serve(tmp_path, act)


def test_invalid_task_is_rejected(tmp_path: Path) -> None:
    good: dict[str, object] = {"arguments": {"topic": "足球"}, "sites": ["a.test"]}
    wrong: list[dict[str, object]] = [
        {}, {"sites": "a.test"}, {"sites": []}, {"sites": [1]}, {"pages": -1}, {"pages": True},
        {"more": 1}, {"arguments": {"topic": ""}}, {"arguments": {"topic": "足球", "fresh": "1"}},
        {"arguments": {"topic": 1}}, {"owner": "\ud800"}, {"spider": "work"},
        {"spider": "unknown"}, {"sites": ["a b"]},
    ]  # fmt: skip

    async def act(client: TestClient[Any, Any]) -> None:
        for change in wrong:
            body = {**good, **change} if change else change
            status, reply = await post(client, "/api/tasks", body)
            assert (status, bool(reply["error"])) == (400, True), change
        async with client.get("/api/tasks") as answer:
            assert await answer.json() == []

    serve(tmp_path, act)


def test_tasks_of_one_template_have_the_same_shard(tmp_path: Path) -> None:
    name = "software-companies-sichuan"
    body: dict[str, object] = {"spider": "template", "arguments": {"template": name}}
    wrong: list[dict[str, object]] = [
        {},  # nowhere to search
        {"sites": ["a.test"], "depth": 2}, {"sites": ["a.test"], "site_pages": 2},
        {"sites": ["a b"]}, {"sites": ["a.test"], "arguments": {"template": "no-such"}},
        {"sites": ["a.test"], "arguments": {"template": name, "fresh": "1"}},
        {"sites": ["a.test"], "arguments": {"topic": name}},
        {"sites": ["a.test"], "arguments": {"template": name, "discover": "nowhere:"}},
    ]  # fmt: skip

    async def act(client: TestClient[Any, Any]) -> None:
        for change in wrong:
            status, reply = await post(client, "/api/tasks", {**body, **change})
            assert (status, bool(reply["error"])) == (400, True), change
        made = [
            (await post(client, "/api/tasks", {**body, **more}))[1]
            for more in (
                {"sites": ["a.test", "http://b.test/x"]},
                {"sites": ["c.test"], "pages": 9},
            )
        ]
        (one,), (other,) = ([site["site"] for site in state["sites"]] for state in made)
        assert one == other
        assert one.startswith("template:软件公司-四川-"), "one crawler at a time"
        shards = [await LocalLedger(tmp_path).get("shards", f"{n}/{one}") for n in (1, 2)]
        seeds = [Shard.read(str(text)).seeds for text in shards]
        assert seeds == [("https://a.test/", "http://b.test/x"), ("https://c.test/",)]

    serve(tmp_path, act)


HIDDEN = "hunter2"
LISTED = """
[search]
name = ["甲"]
[[filter]]
"联系" = []
[crawl]
"QQ" = "qq"
"""


def test_sites_with_private_addresses_are_refused(tmp_path: Path) -> None:
    async def act(client: TestClient[Any, Any]) -> None:
        for site in "http://169.254.169.254/", "localhost", "10.0.0.1", "http://0x7f.1/":
            status, reply = await post(client, "/api/tasks", {**_topic("足球"), "sites": [site]})
            assert (status, "private address" in reply["error"]) == (400, True), site

    serve(tmp_path, act)


def test_passwords_in_sites_are_not_stored(tmp_path: Path) -> None:
    async def act(client: TestClient[Any, Any]) -> None:
        sites = ["http://user:secret@a.test/x@y", "user:secret@b.test"]
        sites += [" http://user:secret@c.test", "//user:secret@d.test"]
        reply = (await post(client, "/api/tasks", {**_topic("足球"), "sites": sites}))[1]
        names = ["http://a.test/x@y", "b.test", "http://c.test", "//d.test"]
        assert reply["task"]["sites"] == names

    serve(tmp_path, act)
    assert b"secret" not in b"".join(file.read_bytes() for file in tmp_path.glob("tasks*"))


def _topic(text: str) -> dict[str, object]:
    return {"arguments": {"topic": text}, "sites": ["a.test"]}


def _template(**arguments: str) -> dict[str, object]:
    return {"spider": "template", "arguments": {"template": "软件公司-四川", **arguments}}


def test_task_that_names_a_file_is_rejected(tmp_path: Path) -> None:
    names = {"line": tmp_path / "secret.txt", "topic": tmp_path / "own.toml"}
    names["line"].write_text(f"{HIDDEN}\n")
    names["topic"].write_text(f"{HIDDEN} = [")
    os.mkfifo(fifo := tmp_path / "fifo")
    wrong = [
        *(_template(discover=f"{provider}:{path}")
          for provider in ("list", " list", "bing,list", "generic")
          for path in (names["line"], names["topic"], "/dev/zero", fifo, "secret.txt")),
        *(_topic(text) for text in (str(names["topic"]),
                                    " own.toml ", "../own", "a\\b", "own.TOML")),
        _template(template=str(names["topic"])), _template(template="own.toml"),
        *(_template(discover=spec)
          for spec in ("examples.search_engine.OwnSearch:http://a.test/", "bing, no.such:x")),
    ]  # fmt: skip

    async def act(client: TestClient[Any, Any]) -> None:
        for body in wrong:
            status, reply = await post(client, "/api/tasks", body)
            assert (status, "HTTP" in reply["error"]) == (400, True), (body, reply)
            assert HIDDEN not in reply["error"]
        async with client.get("/api/tasks") as answer:
            assert await answer.json() == []

    serve(tmp_path, act)


def test_arguments_accept_urls_and_patterns() -> None:
    arguments = {"topic": "足球", "like": "https://a.test/1", "include": "a.test/news/*"}
    body = {"arguments": arguments, "sites": ["a.test"]}
    assert spec_in(body).arguments == arguments
    with pytest.raises(ConfigurationError, match="names a file"):
        spec_in({**body, "spider": "own"})


def test_response_has_no_text_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Errors in topics and templates are logged, but no response shows them."""
    monkeypatch.chdir(tmp_path)
    for kind, broken in (("topics", f'{HIDDEN} = "a"'), ("templates", f"{HIDDEN} [")):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "own.toml").write_text(f"name = '{HIDDEN}'\n{broken}")
    (tmp_path / "seeds.txt").write_text(f"http://a.test/\n{HIDDEN}\n")
    found = f"providers = [{{ list = '{tmp_path}/seeds.txt' }}]\n"
    (tmp_path / "templates" / "listed.toml").write_text(f"{found}{LISTED}")
    bodies = {
        "own.toml: ": _topic("own"),
        "own.toml: invalid TOML (line 2)": _template(template="own"),
        "its providers are invalid": _template(template="listed"),
    }

    async def act(client: TestClient[Any, Any]) -> None:
        for message, body in bodies.items():
            status, reply = await post(client, "/api/tasks", body)
            assert (status, message in reply["error"]) == (400, True), reply
            assert HIDDEN not in reply["error"]

    serve(tmp_path, act)
    assert f"unknown field {HIDDEN}" in caplog.text
    assert "seeds.txt: line 2 is no" in caplog.text


def test_lists_are_read_from_the_allowed_folder_only(tmp_path: Path) -> None:
    folder, secret = tmp_path / "orders", tmp_path / "secret.txt"
    folder.mkdir()
    secret.write_text("http://hidden.test/\n")
    (folder / "seeds.txt").write_text("http://a.test/\n")
    (folder / "linked.txt").symlink_to(secret)
    (folder / "below").mkdir()
    os.mkfifo(folder / "fifo")
    wrong = ("../secret.txt", str(secret), "linked.txt", "below", "fifo", "none.txt", "", ".",
             "seeds.txt/../seeds.txt", "a\x00b", "x" * 200)  # fmt: skip

    async def act(client: TestClient[Any, Any]) -> None:
        for name in wrong:
            status, reply = await post(client, "/api/tasks", _template(discover=f"list:{name}"))
            assert status == 400, (name, reply)
        good = _template(discover="bing, list:seeds.txt")
        status, made = await post(client, "/api/tasks", good)
        assert status == 200, made
        found = made["task"]["arguments"]["discover"]
        assert found == f"bing,list:{folder / 'seeds.txt'}"

    serve(tmp_path / "data", act, str(folder))


def _oversized(text: str) -> list[dict[str, object]]:
    good = _topic("足球")
    return [
        {**good, "owner": text}, {**good, "sites": [f"http://a.test/{text}"]}, _topic(text),
        {**good, "sites": [f"a{n}.test" for n in range(2000)]}, {**good, "pages": 10**12},
        {"sites": ["a.test"], "arguments": {f"a{n}": "" for n in range(50)}},
        {**good, text: 1},
    ]  # fmt: skip


def test_fields_names_and_numbers_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act(client: TestClient[Any, Any]) -> None:
        for body in _oversized("长" * 5000):
            status, reply = await post(client, "/api/tasks", body)
            assert status == 400, body.keys()
            assert len(reply["error"]) < 1000
        digits = b'{"factor": ' + b"9" * 9000 + b"}"
        for data in (digits, b'{"factor": ' + b"9" * 400 + b"}", b'{"factor": NaN}'):
            async with client.post("/api/orders/nev/speed", data=data) as answer:
                assert answer.status == 400, data[:20]
        for name in ("n" * 500, "a%20b", "a%0Ab", "a%5Cb"):
            assert (await post(client, f"/api/orders/{name}/pause"))[0] == 400, name
            async with client.get(f"/api/orders/{name}") as answer:
                assert answer.status == 400, name
        monkeypatch.setattr("topiccrawl.storage.ledger.MAX_ORDERS", 3)
        monkeypatch.setattr("topiccrawl.addons.tasks.http.MAX_TASKS", 2)
        statuses = [(await post(client, f"/api/orders/n{n}/pause"))[0] for n in range(5)]
        assert statuses == [200, 200, 200, 400, 400]
        assert (await post(client, "/api/orders/n1/resume"))[0] == 200, "known ones go on"
        made = [(await post(client, "/api/tasks", _topic(f"足球{n}")))[0] for n in range(3)]
        assert made == [200, 200, 400]

    serve(tmp_path, act)


def test_task_is_checked_outside_the_event_loop(tmp_path: Path) -> None:
    """The check waits for the event loop, so in the loop itself it would time out."""
    loop_continued = threading.Event()

    def check(_spec: TaskSpec) -> str:
        assert loop_continued.wait(PATIENCE)
        return ""

    async def create() -> None:
        service = TaskService(LocalLedger(tmp_path), check)
        creation = asyncio.create_task(
            service.create(TaskSpec("topic", {"topic": "足球"}, ("a.test",)))
        )
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        loop_continued.set()
        assert (await creation).state == "waiting"

    asyncio.run(create())
