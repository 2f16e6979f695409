"""Tests of the add-on's settings together with those of a project, spider or command."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list

import topiccrawl
from topiccrawl import settings as project
from topiccrawl.addon import Addon
from topiccrawl.errors import SettingError
from topiccrawl.scheduler.hooks import check_hooks

LISTENERS = "TOPICCRAWL_STORE_LISTENERS"
WEBHOOK = "topiccrawl.addons.webhook.sender.sender_of"


def settings_with(priority: str = "project", **own: Any) -> Settings:
    settings = Settings()
    settings.setdict(own, priority=priority)
    for _ in range(2):  # without and with a crawler
        Addon().update_settings(settings)
    return settings


def test_project_gets_the_components_and_defaults() -> None:
    settings = settings_with(BOT_NAME="mine")
    check_hooks(settings)
    assert settings["SCHEDULER"] == project.SCHEDULER
    assert settings["TOPICCRAWL_REVISIT_RATE"] == 0.0
    assert "topiccrawl.spiders" in settings.getlist("SPIDER_MODULES")
    assert (settings["BOT_NAME"], settings["COMMANDS_MODULE"]) == ("mine", "")
    assert settings["USER_AGENT"].startswith("Scrapy/")
    assert topiccrawl.Addon is Addon


def test_settings_of_the_project_have_priority() -> None:
    settings = settings_with(
        DOWNLOAD_DELAY=7,
        SPIDER_MODULES=["own.spiders"],
        TOPICCRAWL_GENRES=["hub"],
        EXTENSIONS={"topiccrawl.extensions.progress.Progress": None, "own.Extension": 1},
        TOPICCRAWL_STORE_LISTENERS={"own.listener": 5, WEBHOOK: None},
    )
    check_hooks(settings)
    assert settings["DOWNLOAD_DELAY"] == 7
    assert settings.getlist("SPIDER_MODULES") == [*project.SPIDER_MODULES, "own.spiders"]
    assert settings.getlist("TOPICCRAWL_GENRES") == ["hub"]
    extensions = build_component_list(settings["EXTENSIONS"])
    assert extensions[0] == "own.Extension"
    assert "topiccrawl.extensions.progress.Progress" not in extensions
    assert "topiccrawl.extensions.outcome.CrawlOutcome" in extensions
    assert build_component_list(settings.getdict(LISTENERS)) == ["own.listener"]


@pytest.mark.parametrize("order", [None, 522])
def test_removed_component_may_be_named(order: int | None) -> None:
    settings = settings_with(EXTENSIONS={"topiccrawl.extensions.retry.StartRetry": order})
    components = build_component_list(settings.getwithbase("EXTENSIONS"))
    assert "topiccrawl.extensions.outcome.CrawlOutcome" in components
    settings.get_component_priority_dict_with_base("EXTENSIONS")  # Scrapy loads them


def test_component_given_as_a_class_is_checked() -> None:
    settings = settings_with(DOWNLOADER_MIDDLEWARES={RetryMiddleware: 1})
    with pytest.raises(SettingError, match=r"^DOWNLOADER_MIDDLEWARES enables .*RetryMiddleware,"):
        check_hooks(settings)


def test_spider_adds_components_unless_it_has_a_scheduler() -> None:
    settings = settings_with("spider", SPIDER_MIDDLEWARES={"own.Middleware": 1})
    check_hooks(settings)
    assert build_component_list(settings["SPIDER_MIDDLEWARES"])[0] == "own.Middleware"
    settings = settings_with("spider", SPIDER_MIDDLEWARES={}, SCHEDULER="own.Scheduler")
    assert settings.getdict("SPIDER_MIDDLEWARES") == {}


def test_command_line_replaces_all_components() -> None:
    settings = settings_with("cmdline", SPIDER_MIDDLEWARES={}, SPIDER_MODULES="own.spiders")
    assert settings.getdict("SPIDER_MIDDLEWARES") == {}
    assert settings.getlist("SPIDER_MODULES") == ["own.spiders"]
    with pytest.raises(SettingError, match=r"^SPIDER_MIDDLEWARES lacks "):
        check_hooks(settings)
