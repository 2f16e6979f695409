"""Settings of the Redis add-on: crawls of several nodes (docs/multi-node.md)."""

from __future__ import annotations

REDIS_URL: str | None = None
"""URL of the Redis server that stores the frontier, such as redis://HOST:6379/0; nodes with the
same URL share it. None: environment variable REDIS_URL; "": no Redis."""
REDIS_HOST: str | None = None
"""Host of the Redis server, instead of REDIS_URL, as in scrapy-redis; None: REDIS_URL."""
REDIS_PORT: int | None = None
"""Port of REDIS_HOST; None: 6379."""
REDIS_DB: int | None = None
"""Database number on REDIS_HOST; None: 0."""
REDIS_PARAMS: dict[str, object] | None = None
"""Further arguments of the Redis client, such as {"password": "..."}."""
REDIS_START_URLS_KEY = "%(name)s:start_urls"
"""Redis key of the start URLs that operators add; ``name`` is the name of the spider."""
REDIS_ENCODING = "utf-8"
"""Encoding of the start URLs in Redis."""
REDIS_START_URLS_BATCH_SIZE = 0
"""Number of start URLs that a node takes at once; 0: CONCURRENT_REQUESTS."""
MAX_IDLE_TIME_BEFORE_CLOSE: float | None = None
"""Seconds that an idle node waits for start URLs before it ends; None: it does not wait, 0: it
waits without end."""
SCHEDULER_PERSIST = True
"""True: the crawl stays in Redis when its last node ends."""
TOPICCRAWL_NODE_SECONDS = 10.0
"""Seconds without a heartbeat after which a node times out and other nodes take its hosts."""

TOPICCRAWL_EXAMINATIONS = {"redis": "topiccrawl.addons.redis.doctor.examine"}

TOPICCRAWL_FRONTIER = "topiccrawl.addons.redis.choice.frontiers"
TOPICCRAWL_STORAGES = {"topiccrawl.addons.redis.storage.NodeStorage": 200}
