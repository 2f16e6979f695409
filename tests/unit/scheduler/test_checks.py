"""Tests of the checks of settings before a crawl: name, value and remedy in the error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from tests.users import ordinary_user
from topiccrawl.addons.browser import browser
from topiccrawl.addons.warc import middleware
from topiccrawl.dedup import factory, index, verified
from topiccrawl.errors import SettingError
from topiccrawl.scheduler.checks import check_folder, check_values
from topiccrawl.spiders.arguments import check_watch

if TYPE_CHECKING:
    from pathlib import Path


def settings(**changes: str) -> Settings:
    found = Settings()
    found.setmodule("topiccrawl.settings")
    found.update({"MONGODB_URI": "", **changes}, priority="cmdline")
    return found


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AUTOTHROTTLE_ENABLED", "maybe"),
        ("CLOSESPIDER_PAGECOUNT", "x"),
        ("CONCURRENT_REQUESTS", "x"),
        ("CONCURRENT_REQUESTS_PER_DOMAIN", "0"),
        ("RETRY_ENABLED", "often"),
        ("TOPICCRAWL_ADAPTATION", "foo"),
        ("TOPICCRAWL_ADAPTER", "topiccrawl.nowhere.mine"),
        ("TOPICCRAWL_ARTICLE_PAGES", "x"),
        ("TOPICCRAWL_CHECKS", '{"topiccrawl.nowhere.mine": 1}'),
        ("TOPICCRAWL_CHECKS", '{"topiccrawl.model": 1}'),
        ("TOPICCRAWL_DASHBOARD", "who"),
        ("TOPICCRAWL_DATA_DIR", ""),
        ("TOPICCRAWL_DUPLICATES", "foo"),
        ("TOPICCRAWL_DUPLICATES_WINDOW", "-1"),
        ("TOPICCRAWL_FRAMES", "maybe"),
        ("TOPICCRAWL_FRONTIER", "topiccrawl.model"),
        ("TOPICCRAWL_LANGUAGE", "fr"),
        ("TOPICCRAWL_PAGES", "1.5"),
        ("TOPICCRAWL_PAGES", "-1"),
        ("TOPICCRAWL_MAX_KNOWN", "many"),
        ("TOPICCRAWL_READERS", "many"),
        ("TOPICCRAWL_READERS", "1.5"),
        ("TOPICCRAWL_READER", "mine"),
        ("TOPICCRAWL_RELEVANCE", "topiccrawl.nowhere.Mine"),
        ("TOPICCRAWL_RELEVANCE", "topiccrawl.model"),
        ("TOPICCRAWL_REVISIT_DAYS", "-1"),
        ("TOPICCRAWL_REVISIT_POLICY", "foo"),
        ("TOPICCRAWL_SEEN_ERROR", "0"),
        ("TOPICCRAWL_STOP_YIELD", "2"),
        ("TOPICCRAWL_STORAGES", "{"),
        ("TOPICCRAWL_STORAGES", "5"),
        ("TOPICCRAWL_STORAGES", "[1]"),
        ("TOPICCRAWL_STORAGES", '{"topiccrawl.model": "first"}'),
        ("TOPICCRAWL_STORAGES", '{"topiccrawl.model": [1]}'),
        ("TOPICCRAWL_STORE_LISTENERS", "mine"),
        ("TOPICCRAWL_STORE_LISTENERS", "5"),
        ("TOPICCRAWL_STORE_LISTENERS", '{"topiccrawl.nowhere.mine": 1}'),
        ("TOPICCRAWL_STORE_LISTENERS", '{"topiccrawl.settings.mine": 1}'),
        ("TOPICCRAWL_WEBHOOK", "ftp://a.test/"),
        ("TOPICCRAWL_WORK_SITES", "0"),
        ("URLLENGTH_LIMIT", "long"),
        ("MONGODB_URI", "foo"),
        ("REDIS_URL", "foo"),
    ],
)
def test_invalid_setting_is_reported_by_name(name: str, value: str) -> None:
    with pytest.raises(SettingError, match=f"^{name} "):
        check_values(settings(**{name: value}))


@pytest.mark.parametrize("name", ["TOPICCRAWL_DASHBOARD_ROUTES", "TOPICCRAWL_DASHBOARD_SECTIONS"])
@pytest.mark.parametrize("value", ["{", "5", '{"topiccrawl.nowhere.mine": 1}'])
def test_parts_of_a_dashboard_are_checked_if_it_is_on(name: str, value: str) -> None:
    with pytest.raises(SettingError, match=f"^{name} "):
        check_values(settings(**{"TOPICCRAWL_DASHBOARD": "on", name: value}))


@pytest.mark.parametrize("name", ["WARC_DIR", "JOBDIR"])
def test_file_in_place_of_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingError, match=f"^{name} "):
        check_values(settings(**{name: str(tmp_path / "file")}))
    check_values(settings(**{name: str(tmp_path / "folder")}))


@pytest.mark.parametrize("name", ["WARC_DIR", "JOBDIR"])
def test_read_only_folder_is_refused_with_a_remedy(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir(0o555)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    text = f"^{name} is 'folder': .*: Permission denied: give this user write access, or choose"
    with ordinary_user(), pytest.raises(SettingError, match=text):
        check_folder(settings(**{name: "folder"}), name)


@pytest.mark.parametrize(
    ("name", "value", "package", "extra"),
    [("TOPICCRAWL_JS", "1", "scrapy_playwright", "js"), ("WARC_DIR", "warc", "warcio", "warc")],
)
def test_missing_extra_is_reported_by_name(
    name: str, value: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "find_spec", lambda _: None)
    monkeypatch.setattr(browser, "find_spec", lambda _: None)
    with pytest.raises(SettingError, match=rf"^{name} needs .*'topiccrawl\[{extra}\]'"):
        check_values(settings(**{name: value}))


@pytest.mark.parametrize("watch", ["1", "once"])
def test_watching_with_eviction_is_refused(watch: str) -> None:
    with pytest.raises(SettingError, match=rf"^TOPICCRAWL_MAX_KNOWN .* -a watch={watch} "):
        check_watch(settings(TOPICCRAWL_MAX_KNOWN="1e6"), watch)
    check_watch(settings(TOPICCRAWL_MAX_KNOWN="1e6"), "0")
    check_watch(settings(), watch)


def test_valid_settings_pass() -> None:
    check_values(settings())
    check_values(settings(TOPICCRAWL_MAX_QUEUED="1e6", DOWNLOAD_TIMEOUT="7.5"))
    check_values(settings(RETRY_PRIORITY_ADJUST="-2", TOPICCRAWL_FRAMES="1"))
    check_values(settings(TOPICCRAWL_LANGUAGE="zh-Hans"))


def test_settings_equal_the_defaults_of_the_code() -> None:
    found = settings()
    assert found["TOPICCRAWL_DUPLICATES"] == factory.DEFAULT
    assert found["TOPICCRAWL_DUPLICATES_WINDOW"] == verified.WINDOW
    assert found["TOPICCRAWL_DUPLICATES_ARTICLES"] == index.CAPACITY


def refuse(settings: Settings) -> None:
    raise SettingError(f"MY_OWN is {settings['MY_OWN']}")


def test_custom_checks_run_and_add_on_checks_can_be_disabled() -> None:
    with pytest.raises(SettingError, match=r"^MY_OWN is 3"):
        check_values(settings(TOPICCRAWL_CHECKS=f'{{"{__name__}.refuse": 1}}', MY_OWN="3"))
    off = '{"topiccrawl.addons.watch.extension.policy_of": null}'
    check_values(settings(TOPICCRAWL_REVISIT_POLICY="foo", TOPICCRAWL_CHECKS=off))


@pytest.mark.parametrize("name", ["TOPICCRAWL_DATA_DIR", "JOBDIR"])
def test_path_that_is_not_utf_8_is_refused(name: str, tmp_path: Path) -> None:
    path = "数据".encode("gbk").decode(errors="surrogateescape")  # as the system names it
    with pytest.raises(SettingError, match=f"{name} is .* not UTF-8: rename its folders"):
        check_values(settings(**{name: path}))
    check_values(settings(**{name: str(tmp_path / "数据")}))
