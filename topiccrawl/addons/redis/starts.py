"""Start URLs that operators put into a Redis key, as the spiders of scrapy-redis take them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy_redis.defaults import START_URLS_KEY
from scrapy_redis.spiders import RedisMixin

from topiccrawl.addons.redis.sync import Starts
from topiccrawl.scheduler import meta

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

Take = Callable[[Request], object]
Maker = Callable[[bytes], Iterable[Request] | Request | None]


def starts_of(crawler: Crawler, settings: BaseSettings, take: Take) -> Starts:
    """Return where a crawl listens for start URLs, and what becomes of each.

    A spider of scrapy-redis names its key and makes its requests; it no longer takes URLs from the
    key when it is idle, since what it takes is lost if the process is killed.

    Args:
        crawler: Of the crawl.
        settings: With the key, the number taken at once and the time to wait.
        take: Enqueues a request.
    """
    spider = crawler.spider
    key = str(settings.get("REDIS_START_URLS_KEY") or START_URLS_KEY)
    key %= {"name": getattr(spider, "name", "")}
    wait = settings.get("MAX_IDLE_TIME_BEFORE_CLOSE")
    made: Maker = partial(_plain, encoding=settings.get("REDIS_ENCODING") or "utf-8")
    if isinstance(spider, RedisMixin):
        crawler.signals.disconnect(spider.spider_idle, signal=signals.spider_idle)
        key, wait, made = spider.redis_key, spider.max_idle_time, spider.make_request_from_data
    most = settings.getint("REDIS_START_URLS_BATCH_SIZE")
    return Starts(
        key,
        most or settings.getint("CONCURRENT_REQUESTS") or 16,
        lambda data: start(data, key, take, made),
        -1.0 if wait is None else float(wait),
    )


def start(data: bytes, key: str, take: Take, made: Maker) -> None:
    """Take a start URL; log an invalid one, since it would stop node after node."""
    try:
        requests = made(data) or ()
        for request in (requests,) if isinstance(requests, Request) else requests:
            request.meta["is_start_request"] = True
            request.meta.pop(meta.KEY, None)  # it would name a lease of this process
            take(request)
    except _INVALID as error:
        logger.error("%s holds what is no start URL: %.200r (%s)", key, data, error)  # noqa: TRY400


_INVALID = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)


def _plain(data: bytes, encoding: str) -> Request:
    return request_of(data.decode(encoding))


def request_of(text: str) -> Request:
    """Return the request of a start URL: plain, or JSON with ``url`` and perhaps ``meta``.

    >>> request_of('{"url": "http://a.cn/", "meta": {"site": 1}}').meta["site"]
    1
    """
    record: dict[str, Any] = {"url": text.strip()}
    if text.lstrip().startswith("{"):
        record = json.loads(text)
    given = dict(record.get("meta", {}))
    return Request(record["url"], meta=given, method=record.get("method", "GET"))
