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


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "rediss://127.0.0.1:9/3",
        "rediss://[::1]:9/3?ssl_cert_reqs=none&ssl_ca_certs=%2Fetc%2Fca%231.pem",
        "unix:///run/redis.sock?db=3",
    ],
)
def test_place_is_found_without_its_setting(url: str) -> None:
    place = frontiers_of(project(REDIS_URL=url)).place("nev")
    assert place == f"{url}#nev"
    assert frontiers_of(project(), place).place("nev") == place


def test_place_has_no_password_of_the_url() -> None:
    url = "rediss://u:secret@h/3?ssl_password=secret&ssl_cert_reqs=none&password=secret"
    assert frontiers_of(project(REDIS_URL=url)).place("nev") == (
        "rediss://h:6379/3?ssl_cert_reqs=none#nev"
    )


@pytest.mark.parametrize(
    "url", ["redis://h/abc", "redis://h/0/1", "redis://h:9/-1", "redis://[::1"]
)
def test_url_without_a_database_number_is_refused(url: str) -> None:
    with pytest.raises(SettingError, match=r"REDIS_URL cannot be used: .* a number as DATABASE"):
        frontiers_of(project(REDIS_URL=url)).place("nev")


def test_unknown_dotted_path_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"TOPICCRAWL_FRONTIER is 'nowhere\.Frontiers'"):
        frontiers_of(project(TOPICCRAWL_FRONTIER="nowhere.Frontiers"), tmp_path)
