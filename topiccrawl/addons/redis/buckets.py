"""Buckets of URLs and hosts; a bucket is served by one node at a time."""

from __future__ import annotations

from functools import lru_cache

from topiccrawl.frontier.rows import host_digest
from topiccrawl.links.urls import host_of

BUCKETS = 256
"""Number of buckets of a crawl. A bucket is the first byte of the digest of a host, with which the
keys of its URLs begin."""


@lru_cache(maxsize=200_000)
def bucket_of_host(host: str) -> int:
    """Return the bucket of a host name, in [0, ``BUCKETS``).

    >>> bucket_of_host("news.cn") == bucket_of_url("http://news.cn:8080/a")
    True
    """
    return host_digest(host)[0]


def bucket_of_url(url: str) -> int:
    """Return the bucket of a canonical URL.

    >>> from topiccrawl.frontier.rows import key_of
    >>> key_of("http://news.cn/a")[0] == bucket_of_url("http://news.cn/a")
    True
    """
    return bucket_of_host(host_of(url))
