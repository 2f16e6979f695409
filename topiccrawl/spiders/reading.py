"""Responses read as pages or feeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http import TextResponse

from topiccrawl.links.feeds import MOST_BYTES, read_feed
from topiccrawl.links.page import read_page
from topiccrawl.links.sitemaps import unpacked
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from scrapy.http import Response

    from topiccrawl.model import Page
    from topiccrawl.text.decode import Decoded


def read_response(response: Response) -> tuple[Decoded, Page] | None:
    """Return a page or a feed (which may come packed, as ``.xml.gz``); None for other content."""
    feed = read_feed(response.body, response.url)
    if feed is not None:
        body = unpacked(response.body, MOST_BYTES)
        return decode(body, header(response, "Content-Type")), feed
    if not isinstance(response, TextResponse):
        return None
    decoded = decode(response.body, header(response, "Content-Type"))
    return decoded, read_page(decoded.text, response.url, robots_tags(response), decoded.encoding)


def header(response: Response, name: str) -> str | None:
    """Return a header of a response; None if it has none."""
    value = response.headers.get(name)
    return value.decode("latin-1") if value else None


def robots_tags(response: Response) -> list[str]:
    """Return the values of a response's X-Robots-Tag headers."""
    return [value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")]
