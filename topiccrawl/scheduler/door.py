"""The last look before a request leaves: does its host's clock know, and is the node still alive?

A request may wait for its connection: a far host, a handshake, a process that was stopped. The
moment it can be sent, the frontier is told, so that the next one waits from then. Where another
crawl of the data folder asked the host meanwhile, it waits at the door. A node that others may have
given up meanwhile sends nothing any more, for its hosts may be theirs. What leaves
is given to the operating system there and then: in a buffer it would wait for the loop's next turn,
and be sent after all by a node that was stopped in between and woke. Where a connection used before
turns out to be closed, the request is sent again on a new one: it passes the door again.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import DownloadFailedError
from scrapy.utils.asyncio import call_later
from twisted.internet.defer import Deferred
from typing_extensions import override

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class DoorHandler(HTTP11DownloadHandler):
    """Scrapy's own handler of HTTP and HTTPS, whose connections pass a door.

    The scheduler is asked at the door, where it has one: ``leaves(request)``, False to stay.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._request: Request | None = None
        self._connect = self._pool.getConnection
        self._pool.getConnection = self._to_the_door  # type: ignore[method-assign]

    @override
    async def download_request(self, request: Request) -> Response:
        """Download; the connection is asked for before anything is waited for."""
        self._request = request
        return await super().download_request(request)

    def _to_the_door(self, key: Any, endpoint: Any) -> Deferred[Any]:  # noqa: ANN401 - Twisted's
        request, self._request = self._request, None
        connecting: Deferred[Any] = self._connect(key, endpoint)
        return connecting.addCallback(self._pass, request)

    def _pass(self, connection: Any, request: Request | None) -> Any:  # noqa: ANN401
        scheduler: Any = getattr(self._crawler.engine, "scheduler", None)
        leaves = getattr(scheduler, "leaves", None)
        if request is not None and leaves is not None and (wait := scheduler.waits(request)):
            waiting: Deferred[Any] = Deferred()
            call_later(wait, waiting.callback, connection)
            return waiting.addCallback(self._pass, request)
        protocol = getattr(connection, "_clientProtocol", connection)
        if protocol is not connection:  # used before: it knows how to make a new one
            anew = connection._newConnection  # noqa: SLF001
            connection._newConnection = lambda: anew().addCallback(self._pass, request)  # noqa: SLF001
        if request is None or leaves is None or leaves(request):
            protocol.request = partial(_send, protocol)
            return connection
        protocol.abort()
        raise DownloadFailedError("not sent: others may have given this node up")


def _send(protocol: Any, request: Any) -> Deferred[Any]:  # noqa: ANN401 - Twisted's
    """Send a request on a connection now."""
    answer: Deferred[Any] = type(protocol).request(protocol, request)
    transport = getattr(protocol.transport, "transport", protocol.transport)  # below TLS
    if getattr(transport, "connected", False):
        transport.doWrite()
    return answer
