"""Last check before a request is sent: address, host's delay, and whether the node is alive.

A request may wait for its connection: a far host, a handshake, a process that was stopped. When it
can be sent, this is reported to the frontier, so that the delay of the next request counts from
then. If another crawl of the data folder used the host in the meantime, the request waits here. A
node that may have timed out sends nothing, since other nodes may serve its hosts. The bytes are
passed to the operating system immediately: in a buffer they would wait for the event loop's next
iteration, and a node that is stopped in between would send them when it resumes. If a reused
connection turns out to be closed, the request is sent on a new one, and checked again.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import DownloadFailedError, ResponseDataLossError
from scrapy.utils.asyncio import call_later
from twisted.internet.defer import Deferred
from typing_extensions import override

from topiccrawl.scheduler.connections import BoundedFactory, cause_of, check_address, guard
from topiccrawl.scheduler.context import context_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class SendGateHandler(HTTP11DownloadHandler):
    """Scrapy's handler of HTTP and HTTPS, with a check before each request is sent.

    The check calls two methods of the scheduler, if it has them: ``waits(request)`` returns seconds
    to wait, ``leaves(request)`` returns False to cancel the request.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._request: Request | None = None
        self._pool._factory = BoundedFactory  # noqa: SLF001
        self._connect = self._pool.getConnection
        self._pool.getConnection = self._connect_checked  # type: ignore[method-assign]

    @override
    async def download_request(self, request: Request) -> Response:
        """Download; the connection is requested before the first await."""
        check_address(context_of(self._crawler), request.url)
        self._request = request
        try:
            return await super().download_request(request)
        except (DownloadFailedError, ResponseDataLossError) as error:
            raise cause_of(error) from error.__cause__

    def _connect_checked(self, key: Any, endpoint: Any) -> Deferred[Any]:  # noqa: ANN401 - Twisted's
        request, self._request = self._request, None
        if request is not None and not request.meta.get("proxy"):  # a proxy resolves names itself
            guard(endpoint, partial(check_address, context_of(self._crawler), request.url))
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
        if protocol is not connection:  # reused: it may open a new one
            reconnect = connection._newConnection  # noqa: SLF001
            connection._newConnection = lambda: reconnect().addCallback(self._pass, request)  # noqa: SLF001
        if request is None or leaves is None or leaves(request):
            protocol.request = partial(_send, protocol)
            return connection
        protocol.abort()
        raise DownloadFailedError("not sent: this node may have timed out")


def _send(protocol: Any, request: Any) -> Deferred[Any]:  # noqa: ANN401 - Twisted's
    """Send a request on a connection immediately."""
    answer: Deferred[Any] = type(protocol).request(protocol, request)
    transport = getattr(protocol.transport, "transport", protocol.transport)  # below TLS
    if getattr(transport, "connected", False):
        transport.doWrite()
    return answer
