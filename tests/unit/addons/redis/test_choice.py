"""Tests of the choice of frontiers by settings or by a place in the log of crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from topiccrawl.addons.redis.crawl import SharedFrontiers
from topiccrawl.errors import SettingError
from topiccrawl.scheduler.frontiers import LocalFrontiers, frontiers_of

if TYPE_CHECKING:
    from pathlib import Path

URL = "redis://127.0.0.1:9/3"


class OwnFrontiers(LocalFrontiers):
    """Frontiers of a user."""


def project(**own: str) -> Settings:
    settings = Settings({"TOPICCRAWL_DATA_DIR": "data", **own})
    settings.setmodule("topiccrawl.settings", priority="default")
    return settings


@pytest.mark.parametrize(
    ("settings", "place", "kind"),
    [
        ({}, "", LocalFrontiers),
        ({"REDIS_URL": URL}, "", SharedFrontiers),
        ({"REDIS_HOST": "h"}, "", SharedFrontiers),
        ({"REDIS_URL": URL}, "/data/frontiers/nev", LocalFrontiers),
        ({}, f"{URL}#nev", SharedFrontiers),
        ({}, "unix:///run/redis.sock#nev", SharedFrontiers),
        ({"REDIS_URL": URL, "TOPICCRAWL_FRONTIER": f"{__name__}.OwnFrontiers"}, "", OwnFrontiers),
        ({"REDIS_URL": URL, "TOPICCRAWL_FRONTIER": ""}, "", LocalFrontiers),
    ],
)
def test_settings_or_a_place_choose_the_frontiers(
    settings: dict[str, str], place: str, kind: type
) -> None:
    assert type(frontiers_of(project(**settings), place)) is kind


def test_environment_chooses_the_frontiers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", URL)
    assert frontiers_of(project()).place("nev") == f"{URL}#nev"
    assert isinstance(frontiers_of(project(REDIS_URL="")), LocalFrontiers)


@pytest.mark.parametrize("url", [URL, "rediss://127.0.0.1:9/3"])
def test_place_is_found_without_its_setting(url: str) -> None:
    place = frontiers_of(project(REDIS_URL=url)).place("nev")
    assert place == f"{url}#nev"
    assert frontiers_of(project(), place).place("nev") == place


def test_unknown_dotted_path_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"TOPICCRAWL_FRONTIER is 'nowhere\.Frontiers'"):
        frontiers_of(project(TOPICCRAWL_FRONTIER="nowhere.Frontiers"), tmp_path)
