"""Peers of the frontier on the same links: Scrapy's queue, scrapy-redis, a bare heap, bare LMDB.

Each is fed by the same ``Web`` as the frontier; none of them keeps evidence, in-links, leases or
hosts' clocks, none moves a URL that is queued. Scrapy's and scrapy-redis' queues take requests, so
a link costs them a ``Request`` too.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from heapq import heappop, heappush
from struct import Struct
from typing import TYPE_CHECKING

import lmdb
import redis
from scrapy import Request, Spider
from scrapy.core.downloader import Downloader
from scrapy.crawler import Crawler
from scrapy.dupefilters import RFPDupeFilter
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.squeues import LifoMemoryQueue, PickleLifoDiskQueue
from scrapy.utils.reactor import install_reactor
from xxhash import xxh3_64_digest

from tests.redis_server import running

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from benchmarks.frontier_web import Web
    from topiccrawl.model import Offer

OPEN_FILES = 5_000
"""Hosts up to which Scrapy's queue is on disk: it holds a file open for each."""


class Heap:
    """A heap and a set in RAM: the upper bound of speed, without persistence."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, str]] = []
        self._seen: set[str] = set()

    def push(self, offers: Iterable[Offer]) -> None:
        """Queue links."""
        for offer in offers:
            if offer.url not in self._seen:
                self._seen.add(offer.url)
                heappush(self._heap, (-offer.evidence[0], offer.url))

    def pop(self) -> str | None:
        """The best URL of all hosts."""
        return heappop(self._heap)[1] if self._heap else None


class BareLmdb:
    """Two trees, key to URL and value to key; a commit per fifty pages, nothing flushed.

    Args:
        folder: Folder of the database.
    """

    RANK = Struct(">IQ")

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._env = lmdb.open(
            str(folder), map_size=1 << 40, max_dbs=2, sync=False, metasync=False, readahead=False
        )
        self._urls = self._env.open_db(b"urls")
        self._order = self._env.open_db(b"order")
        self._txn = self._env.begin(write=True)
        self._number = self._pages = 0

    def push(self, offers: Iterable[Offer]) -> None:
        """Queue links; write the record of known ones again."""
        fresh = {xxh3_64_digest(offer.url.encode()): offer for offer in offers}
        cursor = self._txn.cursor(self._urls)
        known = dict(cursor.getmulti(sorted(fresh)))
        order = []
        for key, offer in fresh.items():
            if key not in known:
                self._number += 1
                rank = int((1.0 - offer.evidence[0]) * 0xFFFFFFFF)
                order.append((self.RANK.pack(rank, self._number), key))
        cursor.putmulti(sorted((key, offer.url.encode()) for key, offer in fresh.items()))
        self._txn.cursor(self._order).putmulti(sorted(order))

    def pop(self) -> str | None:
        """The best URL of all hosts."""
        cursor = self._txn.cursor(self._order)
        if not cursor.first():
            return None
        key = cursor.value()
        cursor.delete()
        self._pages += 1
        url = (self._txn.get(key, db=self._urls) or b"").decode()
        if self._pages % 50 == 0:
            self._txn.commit()
            self._txn = self._env.begin(write=True)
        return url

    def close(self) -> None:
        """Commit and close."""
        self._txn.commit()
        self._env.close()


class ScrapyQueue:
    """Scrapy's default: DownloaderAwarePriorityQueue with its queues, and the duplicate filter.

    Args:
        folder: Its place; beyond ``OPEN_FILES`` hosts it is in RAM instead.
        hosts: Number of hosts.
    """

    def __init__(self, folder: Path, hosts: int) -> None:
        self.on_disk = hosts <= OPEN_FILES
        install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
        crawler = Crawler(Spider, {"LOG_ENABLED": False})
        crawler._apply_settings()  # noqa: SLF001 - a crawler without a crawl
        crawler.spider = Spider(name="peer")
        crawler.spider._set_crawler(crawler)  # noqa: SLF001
        engine = type("Engine", (), {"downloader": Downloader(crawler)})()
        crawler.engine = engine
        kind = PickleLifoDiskQueue if self.on_disk else LifoMemoryQueue
        if self.on_disk:
            folder.mkdir(parents=True)
        self._queue = DownloaderAwarePriorityQueue.from_crawler(crawler, kind, str(folder))
        self._filter = RFPDupeFilter.from_crawler(crawler)
        self._downloader = engine.downloader

    def push(self, offers: Iterable[Offer]) -> None:
        """Take links as requests."""
        for offer in offers:
            request = Request(offer.url, priority=int(offer.evidence[0] * 100))
            request.meta["depth"] = 1
            if not self._filter.request_seen(request):
                self._queue.push(request)

    def pop(self) -> Request | None:
        """The best request of the host with the fewest in flight."""
        return self._queue.pop()

    def close(self) -> None:
        """Close files and the downloader's timer."""
        self._queue.close()
        self._downloader.close()


class ScrapyRedis:
    """scrapy-redis: its priority queue and duplicate filter.

    Args:
        server: Client of an empty server.
    """

    def __init__(self, server: redis.Redis) -> None:
        from scrapy_redis.dupefilter import RFPDupeFilter as RedisDupeFilter  # noqa: PLC0415
        from scrapy_redis.queue import PriorityQueue  # noqa: PLC0415 - not needed by the others

        spider = Spider(name="peer")
        self._queue = PriorityQueue(server, spider, "requests")
        self._filter = RedisDupeFilter(server, "seen")

    def push(self, offers: Iterable[Offer]) -> None:
        """Take links as requests."""
        for offer in offers:
            request = Request(offer.url, priority=int(offer.evidence[0] * 100))
            if not self._filter.request_seen(request):
                self._queue.push(request)

    def pop(self) -> Request | None:
        """Return the best request of all hosts, and delete it from Redis."""
        request: Request | None = self._queue.pop()
        return request


Peer = Heap | BareLmdb | ScrapyQueue | ScrapyRedis
"""Queues that are compared with the frontier: ``push`` queues new links, ``pop`` takes the next."""


@contextmanager
def server() -> Iterator[redis.Redis]:
    """Run a Redis server; yield a client of an empty database."""
    with running() as url, redis.Redis.from_url(url) as client:
        client.flushdb()
        yield client


def mixed(peer: Peer, web: Web, urls: int) -> float:
    """Crawl up to ``urls`` URLs; return link operations a second over the last fifth."""
    seconds, links = 0.0, 0
    while web.made < urls:
        if web.made <= urls - urls // 5:
            seconds, links = 0.0, 0
        offers = web.page()
        start = time.perf_counter()
        peer.pop()
        peer.push(offers)
        seconds += time.perf_counter() - start
        links += len(offers)
    return links / seconds


def filled(peer: Peer, web: Web, urls: int) -> float:
    """Return links queued a second, all of them new."""
    seconds = 0.0
    for first in range(0, urls, 1000):
        offers = [web.offer(number) for number in range(first, min(first + 1000, urls))]
        start = time.perf_counter()
        peer.push(offers)
        seconds += time.perf_counter() - start
    web.made = urls
    return urls / seconds


def pops(peer: Peer, most: int, seconds: float = 5.0) -> float:
    """Return pops a second, up to ``most`` pops or ``seconds`` seconds."""
    start = time.perf_counter()
    done = 0
    while done < most and time.perf_counter() - start < seconds:
        if peer.pop() is None:
            break
        done += 1
    return done / (time.perf_counter() - start)
