"""Scrapy's meta refresh, searched only in the first bytes of a page.

Scrapy decodes the whole page for it, in the crawl's process and with any Python codec that a server
names: 80 kB of punycode take 5 s, a megabyte takes a quarter of an hour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware
from scrapy.http import HtmlResponse, Response
from typing_extensions import override

from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from scrapy import Request, Spider

HEAD_BYTES = 16_384
"""Bytes of a page that are searched; Scrapy searches 4,096 characters."""


class HeadRefreshMiddleware(MetaRefreshMiddleware):
    """Follows a refresh in the head of a page if it leads to a web URL."""

    @override
    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        body = response.body[:HEAD_BYTES]
        if not isinstance(response, HtmlResponse) or b"refresh" not in body.lower():
            return response
        declared = (response.headers.get("Content-Type") or b"").decode("latin-1")
        text = decode(body, declared).text.encode("utf-8", "replace")
        head = response.replace(body=text, encoding="utf-8")
        try:
            found = super().process_response(request, head)
        except ValueError:  # the target is not a URL, such as javascript:
            return response
        return response if found is head else found
