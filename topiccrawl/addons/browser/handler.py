"""Download handler of the browser: applies address rules, host delays and the send gate.

Requests that a page sends itself are checked for private addresses. Their redirects are not
checked, since the browser follows them itself.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.exceptions import DownloadFailedError
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler
from typing_extensions import override

from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.sendgate import PrivateAddressError, SendGateHandler, check_address

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_UNNEEDED = frozenset(("image", "media", "font", "stylesheet"))
"""Types of resources that the text of a page does not need."""

_OWN = ("data", "blob", "about")
"""Schemes of resources that need no request."""


class BrowserHandler(ScrapyPlaywrightDownloadHandler, SendGateHandler):  # type: ignore[misc]
    """Handler of scrapy-playwright; other requests are passed to the send gate's handler."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self.abort_request = self._refuses

    @override
    async def download_request(self, request: Request) -> Response:
        """Download; check a request for the browser before it is sent."""
        if request.meta.get("playwright"):
            await self._pass_gate(request)
        response: Response = await super().download_request(request)
        return response

    async def _pass_gate(self, request: Request) -> None:
        await self._check(request.url, resolve=not request.meta.get("proxy"))
        gate = self._gate
        while gate and (wait := gate.waits(request)):  # noqa: ASYNC110 - by the host's clock
            await asyncio.sleep(wait)
        if gate and not gate.leaves(request):
            raise DownloadFailedError("not sent: this node may have timed out")

    async def _check(self, url: str, *, resolve: bool) -> None:
        """Check the host of a URL and its resolved addresses.

        Raises:
            PrivateAddressError: If the host must not be requested.
        """
        context, parts = context_of(self._crawler), urlsplit(url)
        check_address(context, url)
        if not resolve:
            return
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(parts.hostname, None, type=socket.SOCK_STREAM)
        except OSError:
            return  # the browser's proxy may resolve it
        for *_, address in found:
            check_address(context, url, str(address[0]))

    async def _refuses(self, request: Any) -> bool:  # noqa: ANN401 - playwright's
        """Return whether a request of a page is not needed or not allowed."""
        scheme = urlsplit(request.url).scheme
        if scheme in _OWN:
            return False
        if request.resource_type in _UNNEEDED or scheme not in {"http", "https"}:
            return True
        try:
            await self._check(request.url, resolve=True)
        except PrivateAddressError:
            return True
        return False
