"""Last check before a request is sent: address, host's delay, and whether the node is alive.

A request may wait for its connection: a far host, a handshake, a process that was stopped. When it
can be sent, this is reported to the frontier, so that the delay of the next request counts from
then. If another request, of this crawl or another one of the data folder, was sent to the host in
the meantime, the request waits here. A node that may have timed out sends nothing, since other
nodes may serve its hosts. The bytes are passed to the operating system immediately: in a buffer
they would wait for the event loop's next iteration, and a node that is stopped in between would
send them when it resumes. If a reused connection turns out to be closed, the request is sent on a
new one, and checked again.

A host is checked by the address that it resolved to, at each attempt to connect. An address that
changes between two look-ups (DNS rebinding) is therefore checked too. The headers, chunks and
encodings of responses are limited.
"""

from __future__ import annotations

import resource
import sys
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from OpenSSL.SSL import Error as TlsError
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.exceptions import DownloadFailedError, IgnoreRequest, ResponseDataLossError
from scrapy.utils.asyncio import call_later
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorPluggableNameResolver
from twisted.web._newclient import ParseError
from twisted.web.http import _ChunkedTransferDecoder
from typing_extensions import override
from zope.interface import implementer  # type: ignore[import-untyped]

from topiccrawl.scheduler.context import CrawlContext, context_of
from topiccrawl.scheduler.downloads import PRIVATE_ADDRESS

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

MAX_HEADERS = 256 * 1024
"""Maximum bytes of a response's headers, including interim responses (1xx) before it."""
MIN_LINE = 256
"""Bytes that each header line counts as at least: 64,000 headers of 4 bytes take a second."""
MAX_HEADER = 16 * 1024
"""Maximum bytes of a header with its folds: a Location of 230 kB takes a second."""
MAX_NAME = 256
"""Maximum bytes of a header's name; Twisted caches 10,000 names."""
MAX_ENCODINGS = 4
"""Maximum number of encodings of a body; Scrapy decodes each one: 1,500 of 8 MB take 20 s."""
MAX_STATUS = 999
"""Highest status: each one has its own stats and reason of failure."""
MAX_FRAMING = 256 * 1024
"""Maximum bytes between the chunks of a body. Each chunk takes time: a body of 8 MB in chunks of
4 bytes takes 30 s."""


class PrivateAddressError(IgnoreRequest):
    """Request to a private address, or to a host that resolved to one."""

    reason = PRIVATE_ADDRESS


class HeadersTooLargeError(IgnoreRequest):
    """Response with too many headers, or with one that is too large."""

    reason = "headers-too-large"


class ManyEncodingsError(IgnoreRequest):
    """Body that is compressed more than ``MAX_ENCODINGS`` times."""

    reason = "many-encodings"


class ChunksTooSmallError(IgnoreRequest):
    """Body with more than ``MAX_FRAMING`` bytes between its chunks."""

    reason = "chunks-too-small"


class TlsFailedError(DownloadFailedError):
    """Failed TLS connection: a certificate, a TLS version, or a server without TLS."""


def check_address(context: CrawlContext, url: str, address: str = "") -> None:
    """Check the host of a URL, or the address that it resolved to.

    Raises:
        PrivateAddressError: The address is private, and the operator did not name the host.
    """
    if context.opened and context.addresses.refuses(url, address):
        raise PrivateAddressError(url)


def guard(endpoint: Any, check: Callable[[str], None]) -> None:  # noqa: ANN401 - Twisted's
    """Prevent an endpoint from connecting to addresses for which ``check`` raises."""
    inner = getattr(endpoint, "_wrappedEndpoint", endpoint)  # below TLS
    inner._reactor = _CheckedReactor(inner._reactor, check)  # noqa: SLF001


@implementer(IReactorPluggableNameResolver)
class _CheckedReactor:
    """Reactor that checks addresses before it connects to them."""

    def __init__(self, reactor: Any, check: Callable[[str], None]) -> None:  # noqa: ANN401
        self._reactor = reactor
        self._check = check

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._reactor, name)

    def connectTCP(self, host: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401, N802
        self._check(host)
        return self._reactor.connectTCP(host, *arguments, **options)


class _BoundedChunkDecoder(_ChunkedTransferDecoder):
    """Decoder that passes on data received together in one call, however many chunks it had."""

    _framing = 0

    def __init__(self, on_data: Callable[[bytes], None], on_end: Callable[[bytes], None]) -> None:
        self._bodies: list[bytes] = []
        self._on_data, self._on_end = on_data, on_end
        super().__init__(self._bodies.append, self._end)

    @override
    def dataReceived(self, data: bytes) -> None:
        self._framing += len(data)
        super().dataReceived(data)
        self._flush()
        if self._framing > MAX_FRAMING:
            raise ChunksTooSmallError

    def _flush(self) -> None:
        if body := b"".join(self._bodies):
            self._bodies.clear()
            self._framing -= len(body)
            self._on_data(body)

    def _end(self, rest: bytes) -> None:
        self._flush()
        self._on_end(rest)


class _BoundedParser(_LenientHTTPClientParser):
    """Parser that closes the connection if headers are too long or chunks too small."""

    _transferDecoders: dict[bytes, Any] = {b"chunked": _BoundedChunkDecoder}  # noqa: N815, RUF012
    _received = _header = 0

    @override
    def statusReceived(self, status: bytes) -> None:
        super().statusReceived(status)  # type: ignore[no-untyped-call]
        if not 0 <= self.response.code <= MAX_STATUS:
            raise ParseError("status code out of range", status[:MAX_NAME])  # type: ignore[no-untyped-call]

    @override
    def lineReceived(self, line: bytes) -> None:
        folded = line[:1] in {b" ", b"\t"}
        self._received += max(len(line), MIN_LINE)
        self._header = len(line) + (self._header if folded else 0)
        name = 0 if folded else line.find(b":")
        if self._received > MAX_HEADERS or self._header > MAX_HEADER or name > MAX_NAME:
            self._abort()
            raise HeadersTooLargeError
        super().lineReceived(line)

    @override
    def headerReceived(self, name: bytes, value: bytes) -> None:
        with suppress(ValueError):  # browsers skip names with blanks: "Cache Control"
            super().headerReceived(name.rstrip(), value)  # type: ignore[no-untyped-call]

    @override
    def rawDataReceived(self, data: bytes) -> None:
        try:
            super().rawDataReceived(data)  # type: ignore[no-untyped-call]
        except ChunksTooSmallError:
            self._abort()
            raise

    def _abort(self) -> None:
        transport: Any = self.transport
        transport._producer.abortConnection()  # noqa: SLF001 - TLS would wait for an answer


class _BoundedProtocol(_LenientHTTP11ClientProtocol):
    @override
    def request(self, request: Any) -> Deferred[Any]:
        answer = super().request(request)
        self._parser.__class__ = _BoundedParser  # as Scrapy does: Twisted names the class itself
        return answer


class BoundedFactory(_LenientHTTP11ClientFactory):
    """Factory of connections with limits of headers and chunks."""

    @override
    def buildProtocol(self, addr: Any) -> _BoundedProtocol:
        return _BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]


def cause_of(error: Exception) -> Exception:
    """Return the cause of a failed download: size limits, TLS, or else the error itself."""
    for failure in getattr(error.__cause__, "reasons", ()):
        for error_class in (HeadersTooLargeError, ChunksTooSmallError):
            if failure.check(error_class):
                return error_class()
        if failure.check(TlsError):
            return TlsFailedError(str(error))
    return error


class SendGateHandler(HTTP11DownloadHandler):
    """Scrapy's handler of HTTP and HTTPS, with a check before each request is sent.

    The check calls two methods of the scheduler, if it has them: ``waits(request)`` returns seconds
    to wait, ``leaves(request)`` returns False to cancel the request.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._request: Request | None = None
        self._pool._factory = BoundedFactory  # noqa: SLF001
        self._keep = self._pool._putConnection  # noqa: SLF001
        self._pool._putConnection = self._keep_some  # type: ignore[method-assign]  # noqa: SLF001
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]  # -1: unlimited
        # http and https have a handler each, with its own pool
        self._most_idle = files // 4 if files >= 0 else sys.maxsize
        self._connect = self._pool.getConnection
        self._pool.getConnection = self._connect_checked  # type: ignore[method-assign]

    @override
    async def download_request(self, request: Request) -> Response:
        """Download; the connection is requested before the first await."""
        check_address(context_of(self._crawler), request.url)
        self._request = request
        try:
            response = await super().download_request(request)
        except (DownloadFailedError, ResponseDataLossError) as error:
            raise cause_of(error) from error.__cause__
        if given := response.headers.getlist("Content-Encoding"):
            members = map(bytes.strip, b",".join(given).split(b","))
            encodings = list(filter(None, members))  # Scrapy decodes nothing before an empty one
            if len(encodings) > MAX_ENCODINGS:
                raise ManyEncodingsError
            response.headers.setlist("Content-Encoding", encodings)
        return response

    def _keep_some(self, key: Any, connection: Any) -> None:  # noqa: ANN401 - Twisted's
        """Keep an idle connection; close the oldest ones above a quarter of the descriptors."""
        self._keep(key, connection)  # type: ignore[no-untyped-call]
        timers = self._pool._timeouts  # noqa: SLF001
        for idle, timer in islice(timers.items(), max(0, len(timers) - self._most_idle)):
            idle.abort()  # not to be reused
            idle.transport.abortConnection()  # TLS would wait for an answer
            timer.reset(0)

    @property
    def _gate(self) -> Any:  # noqa: ANN401 - a scheduler with these two methods
        """The scheduler, which may have a length of 0, or None if it lacks the two methods."""
        scheduler = getattr(self._crawler.engine, "scheduler", None)
        return scheduler if hasattr(scheduler, "leaves") else None

    def _connect_checked(self, key: Any, endpoint: Any) -> Deferred[Any]:  # noqa: ANN401 - Twisted's
        request, self._request = self._request, None
        if request is not None and not request.meta.get("proxy"):  # a proxy resolves names itself
            guard(endpoint, partial(check_address, context_of(self._crawler), request.url))
        connecting: Deferred[Any] = self._connect(key, endpoint)
        return connecting.addCallback(self._pass, request)

    def _pass(self, connection: Any, request: Request | None) -> Any:  # noqa: ANN401
        gate = self._gate
        if request is not None and gate is not None and (wait := gate.waits(request)):
            waiting: Deferred[Any] = Deferred()
            call_later(wait, waiting.callback, connection)
            return waiting.addCallback(self._pass, request)
        return self._release(connection, request)

    def _release(self, connection: Any, request: Request | None) -> Any:  # noqa: ANN401 - Twisted's
        protocol = getattr(connection, "_clientProtocol", connection)
        if protocol is not connection:  # reused: it may open a new one
            reconnect = connection._newConnection  # noqa: SLF001
            connection._newConnection = lambda: reconnect().addCallback(self._release, request)  # noqa: SLF001
        gate = self._gate
        if request is None or gate is None or gate.leaves(request):
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
