"""Responses of the hostile cases: pages, raw bytes, endless streams."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tests.crawl.web import article
from tests.hostile.web import Case

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.hostile.web import Client

    Act = Callable[[Client], None]

TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"
STORY = article("新能源汽车", TEXT)
CRAWLED, GONE = ("crawled",), ("error",)
ANY = ("crawled", "error")
LATER = ("prior", "normal", "error")
MARKED = "etc-passwd-was-read"
SITEMAP = "Content-Type: application/xml"
FEED = "Content-Type: application/rss+xml"
BOMBS: list[Callable[[], bytes]] = []
"""Functions that build large bodies; a crawl calls them before it begins, others do not pay."""


@cache
def zeros() -> bytes:
    """100 MB of the digit."""
    return b"0" * 100_000_000


def page(body: str | bytes, *headers: str, status: str = "200 OK") -> Act:
    """A valid response with a hostile body or hostile headers."""
    return lambda client: client.answer(body, *headers, status=status)


def bomb(build: Callable[[], bytes], *headers: str) -> Act:
    """A page whose large body is built at most once, not when the cases are listed."""
    body = cache(build)
    BOMBS.append(body)
    return lambda client: client.answer(body(), *headers)


def raw(data: bytes) -> Act:
    """Bytes, then the end of the connection."""
    return lambda client: client.send(data)


def endless(head: bytes, data: bytes, pause: float = 0.0) -> Act:
    """A head, then the same bytes without end."""

    def act(client: Client) -> None:
        client.send(head)
        client.endless(data, pause)

    return act


def moved(place: str, status: str = "302 Found") -> Act:
    """A redirect."""
    return page("", f"Location: {place}", status=status)


def linked(*links: str) -> Act:
    """A page on topic with links."""
    return page(article("新能源汽车频道", TEXT, *links))


def counting(made: Callable[[str, int], list[str]]) -> Act:
    """A page on topic whose links depend on its path, without end."""
    return lambda client: client.answer(
        article("新能源汽车频道", TEXT + client.path, *made(client.host, len(client.path)))
    )


OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
HEAD = OK + b"\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def ruled(name: str, what: str, robots: Act, *outcomes: str) -> Case:
    """A good page behind a hostile robots.txt."""
    return Case(name, what, page(STORY), outcomes, 1, robots)
