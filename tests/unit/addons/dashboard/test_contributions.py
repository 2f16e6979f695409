"""Tests of dashboard routes and sections that the settings add."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web
from scrapy.settings import Settings

from topiccrawl.addons.dashboard.server import contributed_routes
from topiccrawl.addons.dashboard.stored import RunsSource
from topiccrawl.addons.url_patterns.learner import PatternLearner
from topiccrawl.errors import SettingError
from topiccrawl.storage.factory import closed_after
from topiccrawl.storage.ledger import LocalLedger
from topiccrawl.storage.sites import Sites
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from pathlib import Path

HERE = "tests.unit.addons.dashboard.test_contributions"


async def answer(_: web.Request) -> web.Response:
    return web.Response()


def own_routes(_settings: Settings, _ledger: LocalLedger) -> list[web.RouteDef]:
    return [web.get("/api/own", answer)]


async def own_section(settings: Settings, crawler: object) -> dict[str, Any]:
    return {"own": [settings["BOT_NAME"], crawler], "changes": "never instead of ours"}


def settings_for(folder: Path, **given: object) -> Settings:
    settings = Settings()
    settings.setmodule("topiccrawl.settings", priority="project")
    settings.setdict({"TOPICCRAWL_DATA_DIR": str(folder), **given}, priority="cmdline")
    return settings


def more(settings: Settings) -> dict[str, Any]:
    async def read() -> dict[str, Any]:
        async with closed_after(RunsSource(settings)) as source:
            return await source.more("")

    return asyncio.run(read())


def paths(settings: Settings, folder: Path) -> list[str]:
    return [route.path for route in contributed_routes(settings, LocalLedger(folder))]


def test_tasks_and_url_patterns_contribute(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    found = paths(settings, tmp_path)
    assert "/api/tasks" in found
    assert "/api/orders/{name}" in found
    assert more(settings)["patterns"] == []


def test_stored_patterns_are_shown(tmp_path: Path) -> None:
    async def store() -> None:
        learner = PatternLearner()
        for number in range(3):
            url = f"http://a.test/news/{number}.html"
            learner.observe(url, article=True, links=0, topical=True)
        async with Sites(SqliteStorage(tmp_path)) as knowledge:
            await knowledge.put("a.test", learner.stored("a.test"))

    asyncio.run(store())
    (site,) = more(settings_for(tmp_path))["patterns"]
    assert (site["site"], site["pages"]) == ("a.test", 3)


def test_own_contributions_are_added_in_order(tmp_path: Path) -> None:
    own = {
        "TOPICCRAWL_DASHBOARD_ROUTES": {
            "topiccrawl.addons.tasks.dashboard.routes": 100, f"{HERE}.own_routes": 50,
        },
        "TOPICCRAWL_DASHBOARD_SECTIONS": {f"{HERE}.own_section": 50},
    }  # fmt: skip
    settings = settings_for(tmp_path, **own)
    assert paths(settings, tmp_path)[:2] == ["/api/own", "/api/orders/{name}"]
    found = more(settings)
    assert found["own"] == ["topiccrawl", None]
    assert found["changes"] == []
    assert "patterns" not in found


def test_contribution_set_to_none_is_disabled(tmp_path: Path) -> None:
    off = {"topiccrawl.addons.tasks.dashboard.routes": None}
    assert paths(settings_for(tmp_path, TOPICCRAWL_DASHBOARD_ROUTES=off), tmp_path) == []


@pytest.mark.parametrize("given", ["mine", '{"topiccrawl.nowhere.mine": 1}'])
def test_invalid_setting_is_reported(tmp_path: Path, given: str) -> None:
    with pytest.raises(SettingError, match="TOPICCRAWL_DASHBOARD_SECTIONS"):
        RunsSource(settings_for(tmp_path, TOPICCRAWL_DASHBOARD_SECTIONS=given))
    with pytest.raises(SettingError, match="TOPICCRAWL_DASHBOARD_ROUTES"):
        contributed_routes(
            settings_for(tmp_path, TOPICCRAWL_DASHBOARD_ROUTES=given), LocalLedger(tmp_path)
        )
