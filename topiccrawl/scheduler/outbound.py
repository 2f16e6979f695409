"""Connections to addresses that the crawl may ask, and no others; headers that have an end.

A name is judged by the address that it resolved to, at each attempt to connect: an answer that
changes between two look-ups (DNS rebinding) changes nothing.
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
from typing_extensions import override
from zope.interface import implementer  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.internet.defer import Deferred

    from topiccrawl.scheduler.context import CrawlContext

MAX_HEADERS = 256 * 1024
"""Bytes of an answer's headers, of all interim answers (1xx) before it, too."""


class PrivateAddressError(IgnoreRequest):
    """A request whose host is, or resolved to, a private address."""

    reason = "private-address"


class HeadersTooLargeError(IgnoreRequest):
    """An answer whose headers have more than ``MAX_HEADERS`` bytes."""

    reason = "headers-too-large"


class TlsFailedError(DownloadFailedError):
    """No encrypted connection: a certificate, a version of TLS, or a server that speaks none."""


def check_address(context: CrawlContext, url: str, address: str = "") -> None:
    """Check the host of a URL, or the address that it resolved to.

    Raises:
        PrivateAddressError: If it is private, and the operator did not name the host.
    """
    if context.opened and context.addresses.refuses(url, address):
        raise PrivateAddressError(url)


def guard(endpoint: Any, check: Callable[[str], None]) -> None:  # noqa: ANN401 - Twisted's
    """Let an endpoint connect to no address for which ``check`` raises."""
    plain = getattr(endpoint, "_wrappedEndpoint", endpoint)  # below TLS
    plain._reactor = _Guarded(plain._reactor, check)  # noqa: SLF001


@implementer(IReactorPluggableNameResolver)
class _Guarded:
    """A reactor that checks addresses before it connects to them."""

    def __init__(self, reactor: Any, check: Callable[[str], None]) -> None:  # noqa: ANN401
        self._reactor = reactor
        self._check = check

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._reactor, name)

    def connectTCP(self, host: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401, N802
        self._check(host)
        return self._reactor.connectTCP(host, *arguments, **options)


class _BoundedParser(_LenientHTTPClientParser):
    """Parser that ends the connection where headers have no end."""

    _taken = 0

    @override
    def lineReceived(self, line: bytes) -> None:
        self._taken += len(line) + 1
        if self._taken > MAX_HEADERS:
            transport: Any = self.transport
            transport._producer.abortConnection()  # noqa: SLF001 - TLS would wait for an answer
            raise HeadersTooLargeError
        super().lineReceived(line)


class _BoundedProtocol(_LenientHTTP11ClientProtocol):
    @override
    def request(self, request: Any) -> Deferred[Any]:
        answer = super().request(request)
        self._parser.__class__ = _BoundedParser  # as Scrapy does: Twisted names the class itself
        return answer


class BoundedFactory(_LenientHTTP11ClientFactory):
    """Factory of connections that take bounded headers."""

    @override
    def buildProtocol(self, addr: Any) -> _BoundedProtocol:
        return _BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]


def cause_of(error: DownloadFailedError) -> Exception:
    """Return why a download failed: headers too large, encryption, else the error itself."""
    for failure in getattr(error.__cause__, "reasons", ()):
        if failure.check(HeadersTooLargeError):
            return HeadersTooLargeError()
        if failure.check(TlsError):
            return TlsFailedError(str(error))
    return error
