"""Tests of the checks of Scrapy's component settings: ours may be disabled, not omitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.crawler import Crawler
from scrapy.extensions.throttle import AutoThrottle
from scrapy.settings import Settings

from topiccrawl import settings as project
from topiccrawl.addons.doctor.examinations import settings as examined
from topiccrawl.addons.records.spider import TemplateSpider
from topiccrawl.errors import SettingError
from topiccrawl.scheduler.findings import Level
from topiccrawl.scheduler.hooks import LEASE, check_hooks, check_parts
from topiccrawl.spiders.topic import TopicSpider

if TYPE_CHECKING:
    from scrapy import Spider

SCRAPY_SCHEDULER = "scrapy.core.scheduler.Scheduler"
DISABLED = {
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
}


def settings_with(**own: Any) -> Settings:
    settings = Settings()
    settings.setmodule("topiccrawl.settings")
    settings.setdict(own, priority="cmdline")
    return settings


@pytest.mark.parametrize(
    ("own", "component"),
    [
        ({"SPIDER_MIDDLEWARES": {}}, "LeaseMiddleware"),
        ({"SPIDER_MIDDLEWARES": {**project.SPIDER_MIDDLEWARES, LEASE: None}}, "LeaseMiddleware"),
        ({"DOWNLOADER_MIDDLEWARES": {}}, "RobotsTxtMiddleware"),
        ({"EXTENSIONS": {}}, "AutoThrottle"),
        ({"EXTENSIONS": {AutoThrottle: 0}}, "AutoThrottle"),
    ],
)
def test_settings_that_prevent_crawls_are_refused(own: dict[str, Any], component: str) -> None:
    (hook,) = own
    for check in (check_parts, check_hooks):
        with pytest.raises(SettingError, match=rf"^{hook} .*{component}.*: (write|add) "):
            check(settings_with(**own))


def test_custom_spiders_may_omit_our_components() -> None:
    settings = settings_with(
        SPIDER_MIDDLEWARES={LEASE: 10},
        DOWNLOADER_MIDDLEWARES=DISABLED,
        EXTENSIONS={AutoThrottle: None},
    )
    check_parts(settings)
    with pytest.raises(SettingError, match=r"^SPIDER_MIDDLEWARES lacks .*LinkFilterMiddleware"):
        check_hooks(settings)
    check_parts(settings_with(EXTENSIONS={}, AUTOTHROTTLE_ENABLED="0"))


def test_a_reactor_without_asyncio_is_refused() -> None:
    check_parts(settings_with(TWISTED_REACTOR=None))  # the user installs one
    settings = settings_with(TWISTED_REACTOR="twisted.internet.selectreactor.SelectReactor")
    with pytest.raises(SettingError, match=r"^TWISTED_REACTOR is .*SelectReactor.*: leave it out"):
        check_parts(settings)
    for value in ("", "twisted.internet.selectreactor.install"):
        with pytest.raises(SettingError, match=r"^TWISTED_REACTOR is .*: leave it out"):
            check_parts(settings_with(TWISTED_REACTOR=value))


@pytest.mark.parametrize(
    "hook",
    ["ADDONS", "SPIDER_MIDDLEWARES", "DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES"],
)
def test_components_can_be_disabled_but_not_omitted(hook: str) -> None:
    ours: dict[str, Any] = getattr(project, hook)
    last = [part for part in ours if part.startswith("topiccrawl.")][-1]
    check_hooks(settings_with(**{hook: {**ours, last: None}}))
    remaining = {part: order for part, order in ours.items() if part != last}
    with pytest.raises(SettingError, match=rf"^{hook} lacks {last}: "):
        check_hooks(settings_with(**{hook: remaining}))


@pytest.mark.parametrize(
    ("scheduler", "words"),
    [(SCRAPY_SCHEDULER, "leave it out"), ("no.such.Thing", "cannot be loaded")],
)
def test_another_scheduler_is_refused(scheduler: str, words: str) -> None:
    with pytest.raises(SettingError, match=f"^SCHEDULER is '{scheduler}', .*{words}"):
        check_hooks(settings_with(SCHEDULER=scheduler))


def test_settings_without_the_addon_are_refused() -> None:
    with pytest.raises(SettingError, match="add ADDONS"):
        TopicSpider.from_crawler(Crawler(TopicSpider, Settings()), topic="football")


@pytest.mark.parametrize("spider", [TopicSpider, TemplateSpider])
def test_our_spiders_need_their_components(spider: type[Spider]) -> None:
    crawler = Crawler(spider, settings_with(SCHEDULER=SCRAPY_SCHEDULER))
    with pytest.raises(SettingError, match=r"^SCHEDULER is "):
        spider.from_crawler(crawler)


@pytest.mark.parametrize(
    "own", [{"SCHEDULER": SCRAPY_SCHEDULER}, {"SPIDER_MIDDLEWARES": {}}, {"EXTENSIONS": {}}]
)
def test_doctor_reports_missing_components(own: dict[str, Any]) -> None:
    (finding,) = examined(settings_with(**own))
    assert finding.level is Level.FAIL
    assert finding.text.startswith(next(iter(own)))
