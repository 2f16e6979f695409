"""Tests of the browser add-on and of its settings."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.addons import AddonManager
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from topiccrawl import settings as project
from topiccrawl.addons.browser.browser import BrowserMiddleware
from topiccrawl.addons.records.spider import TemplateSpider
from topiccrawl.scheduler import meta
from topiccrawl.spiders.topic import TopicSpider

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy import Spider

needs_playwright = pytest.mark.skipif(
    not find_spec("scrapy_playwright"), reason="no scrapy-playwright: pip install -e '.[js]'"
)


def crawler_with_addons(folder: Path, js: str) -> Crawler:
    """Return a crawler of the topic spider with the settings of its add-ons."""
    settings = Settings()
    settings.setmodule("topiccrawl.settings")
    own = {"TOPICCRAWL_JS": js, "TOPICCRAWL_DATA_DIR": str(folder), "MONGODB_URI": ""}
    settings.setdict({**own, "REDIS_URL": "", "DOWNLOAD_TIMEOUT": 7}, priority="cmdline")
    crawler = Crawler(TopicSpider, settings)
    crawler.spider = TopicSpider.from_crawler(crawler, topic="新能源汽车")
    AddonManager(crawler).load_settings(crawler.settings)
    return crawler


@needs_playwright
def test_enabled_browser_has_handler_middleware_and_rule(tmp_path: Path) -> None:
    crawler = crawler_with_addons(tmp_path, "1")
    handlers: dict[str, Any] = crawler.settings.getdict("DOWNLOAD_HANDLERS")
    ours = "topiccrawl.addons.browser.handler.BrowserHandler"
    assert (handlers["http"], handlers["https"]) == (ours, ours)
    assert crawler.settings["PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT"] == 7000
    assert BrowserMiddleware in crawler.settings["DOWNLOADER_MIDDLEWARES"]
    assert isinstance(crawler.spider, TopicSpider)
    assert crawler.spider.rendering is not None


def test_disabled_browser_changes_nothing(tmp_path: Path) -> None:
    crawler = crawler_with_addons(tmp_path, "0")
    assert crawler.settings.getdict("DOWNLOAD_HANDLERS") == project.DOWNLOAD_HANDLERS
    assert BrowserMiddleware not in crawler.settings["DOWNLOADER_MIDDLEWARES"]
    assert isinstance(crawler.spider, TopicSpider)
    assert crawler.spider.rendering is None


@pytest.mark.parametrize("spider", [TemplateSpider, None])
def test_spiders_without_a_topic_are_not_rendered(spider: type[Spider] | None) -> None:
    settings = Settings({"ADDONS": project.ADDONS, "TOPICCRAWL_JS": "1"})
    crawler = Crawler(spider or TopicSpider, settings)
    crawler.spider = None if spider is None else spider.__new__(spider)
    AddonManager(crawler).load_settings(crawler.settings)
    assert "PLAYWRIGHT_LAUNCH_OPTIONS" not in crawler.settings


def test_only_marked_requests_go_to_the_browser() -> None:
    plain, marked = (Request("http://a.test/", meta=m) for m in ({}, {meta.RENDER: True}))
    for request in (plain, marked):
        asyncio.run(BrowserMiddleware().process_request(request))
    assert "playwright" not in plain.meta
    assert marked.meta["playwright"] is True
