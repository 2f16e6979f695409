"""Peers that are no Scrapy spiders: ``python peers_others.py NAME SEEDS TERMS PAGES CONCURRENCY``.

It runs in the interpreter that has them installed and imports nothing of this project. The proxy is
that of the environment, http_proxy.
"""

# ruff: noqa: PLC0415 - one may be installed without the other

import asyncio
import os
import sys
from datetime import timedelta

DEEPEST = 100
"""Maximum depth of links from a seed; both crawlers need a limit."""


async def crawl4ai(seeds: list[str], terms: list[str], pages: int, concurrency: int) -> None:
    """Crawl best first by keywords, with plain HTTP requests."""
    from crawl4ai import (
        AsyncWebCrawler,
        BestFirstCrawlingStrategy,
        CrawlerRunConfig,
        HTTPCrawlerConfig,
    )
    from crawl4ai.async_configs import ProxyConfig
    from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
    from crawl4ai.deep_crawling.scorers import KeywordRelevanceScorer

    strategy = BestFirstCrawlingStrategy(
        max_depth=DEEPEST, max_pages=pages, url_scorer=KeywordRelevanceScorer(keywords=terms)
    )
    config = CrawlerRunConfig(
        deep_crawl_strategy=strategy,
        proxy_config=ProxyConfig(server=os.environ["http_proxy"]),
        stream=True,
        verbose=False,
        semaphore_count=concurrency,
    )
    requests = AsyncHTTPCrawlerStrategy(browser_config=HTTPCrawlerConfig(verify_ssl=False))
    async with AsyncWebCrawler(crawler_strategy=requests, verbose=False) as crawler:
        for seed in seeds:
            async for _ in await crawler.arun(seed, config=config):
                pass


async def crawlee(seeds: list[str], terms: list[str], pages: int, concurrency: int) -> None:
    """Follow every link in the order of the queue, as in the first example of its documentation."""
    del terms
    from crawlee import ConcurrencySettings
    from crawlee.crawlers import BeautifulSoupCrawler
    from crawlee.http_clients import ImpitHttpClient
    from crawlee.proxy_configuration import ProxyConfiguration

    crawler = BeautifulSoupCrawler(
        max_requests_per_crawl=pages,
        max_request_retries=0,
        respect_robots_txt_file=False,
        http_client=ImpitHttpClient(verify=False),
        proxy_configuration=ProxyConfiguration(proxy_urls=[os.environ["http_proxy"]]),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=concurrency,
            desired_concurrency=concurrency,
            max_concurrency=concurrency,
        ),
        request_handler_timeout=timedelta(seconds=60),
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def follow(context: object) -> None:
        await context.enqueue_links(strategy="all")

    await crawler.run(seeds)


if __name__ == "__main__":
    name, seeds_, terms_, pages_, concurrency_ = sys.argv[1:]
    peer = {"crawl4ai": crawl4ai, "crawlee": crawlee}[name]
    asyncio.run(peer(seeds_.split(","), terms_.split(","), int(pages_), int(concurrency_)))
