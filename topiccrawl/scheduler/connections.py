"""Connections to allowed addresses only, and limits of headers and chunks of responses.

A host is checked by the address that it resolved to, at each attempt to connect. An address that
changes between two look-ups (DNS rebinding) is therefore checked too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from OpenSSL.SSL import Error as TlsError
from scrapy.core.downloader.handlers.http11 import (
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.exceptions import DownloadFailedError, IgnoreRequest
from twisted.internet.interfaces import IReactorPluggableNameResolver
from twisted.web.http import _ChunkedTransferDecoder
from typing_extensions import override
from zope.interface import implementer  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.internet.defer import Deferred

    from topiccrawl.scheduler.context import CrawlContext

MAX_HEADERS = 256 * 1024
"""Maximum bytes of a response's headers, including interim responses (1xx) before it."""
MAX_FRAMING = 256 * 1024
"""Maximum bytes between the chunks of a body. Each chunk takes time: a body of 8 MB in chunks of
4 bytes takes 30 s."""


class PrivateAddressError(IgnoreRequest):
    """Request to a private address, or to a host that resolved to one."""

    reason = "private-address"


class HeadersTooLargeError(IgnoreRequest):
    """Response whose headers have more than ``MAX_HEADERS`` bytes."""

    reason = "headers-too-large"


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
    _received = 0

    @override
    def lineReceived(self, line: bytes) -> None:
        self._received += len(line) + 1
        if self._received > MAX_HEADERS:
            self._abort()
            raise HeadersTooLargeError
        super().lineReceived(line)

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
