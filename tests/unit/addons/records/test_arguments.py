"""Tests of the template spider's arguments: invalid ones are reported before any request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from topiccrawl import settings as project
from topiccrawl.addons.records.arguments import plan_of
from topiccrawl.addons.records.periods.periods import Period, Periods, Phase
from topiccrawl.discovery.custom import CustomEngine
from topiccrawl.errors import ConfigurationError
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from pathlib import Path

TEMPLATE = """
search.name = ["软件公司"]
providers = ["bing", {searxng = "http://s.test"}, {url = "http://e.test/?q={query}", results = "a"}]
[crawl]
"QQ" = "qq"
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings()
    settings.setmodule(project)
    settings.set("TOPICCRAWL_DATA_DIR", str(tmp_path))
    settings.set("MONGODB_URI", "")
    return settings


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no template"),
        ({"template": "nothing"}, "no such template"),
        ({"template": "软件公司-四川"}, "no seed provider to search for '四川 软件公司'"),
        ({"template": "软件公司-四川", "discover": "google"}, "write one of searxng"),
        ({"template": "软件公司-四川", "discover": "bing", "chance": "x"}, "chance=1 or chance=0"),
        ({"template": "软件公司-四川", "seeds": "a b"}, "is not an HTTP URL"),
        ({"template": "软件公司-四川", "sedes": "x"}, "did you mean seeds?"),
    ],
)
def test_invalid_argument_is_reported_with_a_remedy(
    arguments: dict[str, str], message: str, settings: Settings
) -> None:
    with pytest.raises(ConfigurationError) as error:
        plan_of(settings, arguments)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("JOBDIR", "x"), ("REDIS_URL", "redis://r.test"), ("TOPICCRAWL_SEEDS_AT_ONCE", 0)],
)
def test_setting_unusable_in_template_crawls_is_rejected(
    name: str, value: object, settings: Settings
) -> None:
    settings.set(name, value)
    with pytest.raises(ConfigurationError, match=name):
        plan_of(settings, {"template": "软件公司-四川", "discover": "bing"})


def test_unusable_store_is_reported_before_any_request(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "store.sqlite").write_text("no database at all, but long enough to look" * 20)
    with pytest.raises(ConfigurationError, match="not a SQLite database"):
        plan_of(settings, {"template": "软件公司-四川", "discover": "bing"})


def test_discover_argument_overrides_the_providers(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "mine.toml").write_text(TEMPLATE)
    arguments = {"template": tmp_path / "mine.toml", "chance": False}
    plan = plan_of(settings, arguments)
    assert not plan.rules.chance
    assert plan.discovery is not None
    assert [one.name for one in plan.discovery.providers] == ["bing", "searxng", "generic"]
    assert isinstance(plan.discovery.providers[2], CustomEngine)
    other = plan_of(settings, {**arguments, "discover": "duckduckgo"})
    assert other.discovery is not None
    assert [one.name for one in other.discovery.providers] == ["duckduckgo"]


async def _put(settings: Settings, period: Period) -> None:
    periods = Periods(SqliteStorage(settings["TOPICCRAWL_DATA_DIR"]))
    await periods.open()
    await periods.put(period)
    await periods.close()


@pytest.mark.parametrize(
    ("phase", "fresh", "number"),
    [(Phase.CRAWLING, "", 3), (Phase.CRAWLING, "1", 4), (Phase.FINISHED, "", 4)],
)
def test_unfinished_period_is_continued(
    phase: Phase, fresh: str, number: int, settings: Settings
) -> None:
    asyncio.run(_put(settings, Period("软件公司-四川", 3, phase)))
    plan = plan_of(settings, {"template": "软件公司-四川", "discover": "bing", "fresh": fresh})
    assert plan.number == number
    assert plan.crawl_name.endswith(f"-{number}")
    assert all(not name.endswith(f"-{number - 1}") for name in plan.obsolete_crawls)
