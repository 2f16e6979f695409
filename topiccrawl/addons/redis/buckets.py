"""Buckets of URLs and hosts; a bucket is served by one node at a time."""

from __future__ import annotations

from functools import lru_cache

from topiccrawl.frontier.rows import host_digest
from topiccrawl.links.urls import host_of

BUCKETS = 256
"""Buckets of every crawl: the first byte of a host's digest, which begins the keys of its URLs."""


@lru_cache(maxsize=200_000)
def bucket_of_host(host: str) -> int:
    """Bucket of a host name, from 0 to ``BUCKETS`` - 1.

    >>> bucket_of_host("news.cn") == bucket_of_url("http://news.cn:8080/a")
    True
    """
    return host_digest(host)[0]


@lru_cache(maxsize=200_000)
def _bucket_of_prefix(prefix: str) -> int:
    return bucket_of_host(host_of(prefix))


def bucket_of_url(url: str) -> int:
    """Bucket of a canonical URL.

    >>> from topiccrawl.frontier.rows import key_of
    >>> key_of("http://news.cn/a")[0] == bucket_of_url("http://news.cn/a")
    True
    """
    return _bucket_of_prefix(url[: url.find("/", 8) + 1] or url)
