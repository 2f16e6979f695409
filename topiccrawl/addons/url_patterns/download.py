"""Sitemaps fetched for a command: few files, one after the other, before or between crawls."""

from __future__ import annotations

import time
import urllib.request
from collections import deque
from typing import TYPE_CHECKING

from topiccrawl.errors import ConfigurationError
from topiccrawl.links.sitemaps import MOST_BYTES, read_sitemap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

MOST_SITEMAPS = 50
"""Files fetched of one index; a portal has thousands, and a few show its formats."""


def sitemap_pages(start: str, settings: BaseSettings) -> Iterator[tuple[str, bool]]:
    """Yield the URLs that a sitemap lists, with those it leads to, and whether each is news.

    Args:
        start: URL of a sitemap, an index of sitemaps, or a robots.txt that names some.
        settings: USER_AGENT, DOWNLOAD_TIMEOUT and DOWNLOAD_DELAY are obeyed.

    Raises:
        ConfigurationError: The first file cannot be fetched; later ones are passed over.
    """
    waiting, known = deque([start]), {start}
    for number in range(MOST_SITEMAPS):
        if not waiting:
            return
        url = waiting.popleft()
        if number:
            time.sleep(settings.getfloat("DOWNLOAD_DELAY"))
        try:
            found = read_sitemap(fetched(url, settings))
        except (OSError, ValueError) as error:
            if number:
                continue
            raise ConfigurationError(
                f"{url}: cannot be fetched: {error}; give the URL of a sitemap or a robots.txt"
            ) from error
        yield from ((page, page in found.news) for page in found.pages)
        new = [sitemap for sitemap in found.sitemaps if sitemap not in known]
        known.update(new)
        waiting.extend(new)


def fetched(url: str, settings: BaseSettings) -> bytes:
    """The bytes of a URL, 50 MB at most; a proxy of the environment is used.

    Raises:
        OSError: It cannot be fetched.
        ValueError: It is no http address.
    """
    if not url.startswith(("http://", "https://")):
        raise ValueError("no http address")
    request = urllib.request.Request(url, headers={"User-Agent": settings["USER_AGENT"]})  # noqa: S310
    timeout = settings.getfloat("DOWNLOAD_TIMEOUT")
    opener = urllib.request.build_opener()  # urllib's common one keeps the first proxy it saw
    with opener.open(request, timeout=timeout) as answer:
        data: bytes = answer.read(MOST_BYTES)
    return data
