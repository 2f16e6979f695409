"""Settings of crawls that several nodes share: the frontier in Redis (docs/multi-node.md)."""

from __future__ import annotations

REDIS_URL: str | None = None
"""Redis that stores the frontier, such as redis://HOST:6379/0; nodes with the same setting share
it. None: the environment's REDIS_URL, "": none."""
REDIS_HOST: str | None = None
"""Host of the same, given in parts as in scrapy-redis; None: REDIS_URL."""
REDIS_PORT: int | None = None
"""Port with REDIS_HOST; None: 6379."""
REDIS_DB: int | None = None
"""Number of the database with REDIS_HOST; None: 0."""
REDIS_PARAMS: dict[str, object] | None = None
"""Further arguments of the client, such as {"password": "..."}."""
REDIS_START_URLS_KEY = "%(name)s:start_urls"
"""Redis key of the start URLs that operators add; ``name`` is the spider's."""
REDIS_ENCODING = "utf-8"
"""Encoding of the start URLs in Redis."""
REDIS_START_URLS_BATCH_SIZE = 0
"""Start URLs that a node takes at once; 0: CONCURRENT_REQUESTS."""
MAX_IDLE_TIME_BEFORE_CLOSE: float | None = None
"""Seconds without work after which a node that waits for start URLs ends; None: it does not wait,
0: it waits for ever."""
SCHEDULER_PERSIST = True
"""The crawl stays in Redis when its last node ends."""
TOPICCRAWL_NODE_SECONDS = 10.0
"""Seconds without a heartbeat after which a node has timed out: the others fetch its part."""

TOPICCRAWL_EXAMINATIONS = {"redis": "topiccrawl.addons.redis.doctor.examine"}

TOPICCRAWL_FRONTIER = "topiccrawl.addons.redis.choice.frontiers"
TOPICCRAWL_STORAGES = {"topiccrawl.addons.redis.storage.NodeStorage": 200}
