"""Connections to addresses that the crawl may ask, and no others.

A name is judged by the address that it resolved to, at each attempt to connect: an answer that
changes between two look-ups (DNS rebinding) changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import IgnoreRequest
from twisted.internet.interfaces import IReactorPluggableNameResolver
from zope.interface import implementer  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.scheduler.context import CrawlContext


class PrivateAddressError(IgnoreRequest):
    """A request whose host is, or resolved to, a private address."""

    reason = "private-address"


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
