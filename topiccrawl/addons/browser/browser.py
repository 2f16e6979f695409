"""Browser rendering (``TOPICCRAWL_JS``) by scrapy-playwright, for requests marked for it."""

from __future__ import annotations

from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import NotConfigured

from topiccrawl.errors import SettingError
from topiccrawl.links.urls import site_of
from topiccrawl.scheduler import meta
from topiccrawl.spiders.topic import TopicSpider

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

_HANDLER = "topiccrawl.addons.browser.handler.BrowserHandler"


TRIALS = 3
"""Blank pages of a site that are rendered on trial."""

MIN_ARTICLES = 2
"""Articles in the trial from which the site's blank pages are always rendered."""


class RenderingRule:
    """Decision per site whether its blank pages are rendered.

    >>> rule = RenderingRule()
    >>> url = "http://a.test/1"
    >>> rule.wants(url), rule.observe(url, article=True), rule.observe(url, article=True)
    (True, None, None)
    >>> [rule.wants(url) for _ in range(5)]
    [True, True, True, True, True]
    """

    def __init__(self) -> None:
        self._trials, self._articles = Counter[str](), Counter[str]()

    def wants(self, url: str) -> bool:
        """Return whether a blank page of this URL's site is to be rendered."""
        site = site_of(url)
        return self._articles[site] >= MIN_ARTICLES or self._trials[site] < TRIALS

    def observe(self, url: str, *, article: bool) -> None:
        """Record whether a rendered page was an article."""
        self._trials[site_of(url)] += 1
        self._articles[site_of(url)] += article


class BrowserMiddleware:
    """Sends requests with ``meta.RENDER`` to the browser."""

    async def process_request(self, request: Request) -> None:
        """Mark the request for scrapy-playwright."""
        if request.meta.get(meta.RENDER):
            request.meta["playwright"] = True


class BrowserAddon:
    """Add-on that configures Scrapy for rendering and sets the spider's rendering rule.

    Args:
        spider: Spider that requests rendered pages.
    """

    def __init__(self, spider: TopicSpider) -> None:
        self._spider = spider

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the add-on.

        Raises:
            NotConfigured: If TOPICCRAWL_JS is off, or the spider has no topic.
            SettingError: If scrapy-playwright is not installed.
        """
        if not isinstance(crawler.spider, TopicSpider) or not wants_browser(crawler.settings):
            raise NotConfigured
        return cls(crawler.spider)

    def update_settings(self, settings: BaseSettings) -> None:
        """Set the download handler, its options and the middleware."""
        options: dict[str, Any] = {"args": ["--disable-gpu", "--no-sandbox"]}
        if path := settings.get("TOPICCRAWL_BROWSER"):
            options["executable_path"] = path
        chosen = {
            "DOWNLOAD_HANDLERS": {"http": _HANDLER, "https": _HANDLER},
            "PLAYWRIGHT_LAUNCH_OPTIONS": options,
            "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": 2,
            "PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": 1000 * settings.getfloat("DOWNLOAD_TIMEOUT"),
        }
        for name, value in chosen.items():
            settings.set(name, value, priority="spider")
        settings.setdefault_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES", BrowserMiddleware, 40
        )
        self._spider.rendering = RenderingRule()


def wants_browser(settings: BaseSettings) -> bool:
    """Return the value of TOPICCRAWL_JS.

    Raises:
        SettingError: If it is set and scrapy-playwright is not installed.
    """
    wanted = settings.getbool("TOPICCRAWL_JS")
    if wanted and find_spec("scrapy_playwright") is None:
        raise SettingError("TOPICCRAWL_JS needs scrapy-playwright: pip install 'topiccrawl[js]'")
    return wanted
