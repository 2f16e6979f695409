"""``scrapy dashboard`` shows earlier crawls and controls tasks, for authorized clients only."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import aiohttp
import pytest

from tests.crawl.run import exit_status, log_of, running
from tests.ports import free_port
from tests.unit.addons.dashboard.states import state
from tests.waiting import until
from topiccrawl.addons.dashboard.guard import HEADER
from topiccrawl.storage.runs import LocalRuns

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

TASK = {"arguments": {"topic": "足球"}, "sites": ["a.test", "b.test"], "owner": "me"}


async def check_api(base: str, token: str) -> None:
    """Request all resources, create a task and pause it."""
    async with aiohttp.ClientSession() as stranger, stranger.get(f"{base}/api/state") as answer:
        assert answer.status == 401
    bearer = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(headers=bearer) as session:
        async with session.get(f"{base}/api/state") as answer:
            body = await answer.json()
        assert body["run"]["topic"] == "新能源汽车"
        assert body["crawls"][0]["live"] == 1
        async with session.post(f"{base}/api/tasks", json=TASK) as answer:
            assert answer.status == 403
        own = {HEADER: "1"}
        async with session.post(f"{base}/api/tasks", json=TASK, headers=own) as answer:
            assert answer.status == 200, await answer.text()
            made = await answer.json()
        files = {"template": "软件公司-四川", "discover": "list:/dev/zero"}
        asked = {"spider": "template", "arguments": files}
        async with session.post(f"{base}/api/tasks", json=asked, headers=own) as answer:
            assert answer.status == 400
            assert "over HTTP, list takes" in (await answer.json())["error"]
        task = made["task"]["id"]
        async with session.post(f"{base}/api/tasks/{task}/pause", headers=own) as answer:
            assert (await answer.json())["state"] == "paused"
        async with session.get(f"{base}/api/tasks") as answer:
            (found,) = await answer.json()
            assert [site["site"] for site in found["sites"]] == ["a.test", "b.test"]
        async with session.get(f"{base}/metrics") as answer:
            assert "topiccrawl_pages_total" in await answer.text()
        async with session.get(f"{base}/api/events") as answer:
            assert (await answer.content.readline()).startswith(b'data: {"run"')


def test_dashboard_shows_crawls_and_controls_tasks(tmp_path: Path) -> None:
    data, port = tmp_path / "data", free_port()
    asyncio.run(LocalRuns(data).put(state()))
    with running("", data, "dashboard", str(port)) as process:
        until(lambda: "?token=" in log_of(data).read_text())
        token = log_of(data).read_text().partition("?token=")[2].split()[0]
        asyncio.run(check_api(f"http://127.0.0.1:{port}", token))
        process.send_signal(signal.SIGINT)
        assert exit_status(process, data) == 0, log_of(data).read_text()
    assert f"Dashboard: http://127.0.0.1:{port}/" in log_of(data).read_text()
