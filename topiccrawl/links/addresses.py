"""Addresses that no page of the web can have: of this machine, of private networks, of links."""

from __future__ import annotations

import socket
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING
from unicodedata import normalize

from topiccrawl.links.urls import host_of, origin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PRIVATE_NAMES = ("localhost", "localdomain", "local", "internal", "home.arpa")
"""Names, with those below them, that name no host of the web (RFC 6761, 6762, 8375; ICANN)."""
_FAKE = IPv4Network("198.18.0.0/15")
"""Addresses that local proxies invent for names of the web; tests of devices use no others."""
_TRANSLATED = IPv6Network("64:ff9b::/96")
"""IPv4 addresses in networks that have IPv6 only (RFC 6052)."""
_COMPATIBLE = IPv6Network("::/96")


def literal(host: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a host stands for in any spelling; None where it is a name.

    An IPv6 address that wraps one of IPv4 is that one.

    >>> literal("0x7f.1"), literal("2130706433"), literal("[::ffff:10.0.0.1]"), literal("a.test")
    (IPv4Address('127.0.0.1'), IPv4Address('127.0.0.1'), IPv4Address('10.0.0.1'), None)
    """
    text = normalize("NFKC", host).replace("。", ".").strip("[].").partition("%")[0]
    try:
        if ":" in text:
            return _unwrapped(IPv6Address(text))
        return ip_address(socket.inet_aton(text)) if text[:1].isdigit() else None
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=4096)
def is_private(host: str) -> bool:
    """Return whether a host is an address, or has a name, of no page of the web.

    >>> is_private("169.254.169.254"), is_private("localhost"), is_private("93.184.216.34")
    (True, True, False)
    """
    address = literal(host)
    if address is None:
        return f".{host.lower().strip('.')}".endswith(tuple(f".{n}" for n in _PRIVATE_NAMES))
    if isinstance(address, IPv4Address):
        return address not in _FAKE and (not address.is_global or address.is_multicast)
    odd = address.is_multicast or address.is_reserved or address.is_site_local
    return odd or not address.is_global


def _unwrapped(address: IPv6Address) -> IPv4Address | IPv6Address:
    if address in _TRANSLATED or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


class AddressRules:
    """Private addresses are refused, but for hosts that the operator named.

    Args:
        allowed: Hosts that may be private, with those below them.
        count: Called for each refusal.
        off: Refuse nothing.

    >>> rules = AddressRules(["localhost"])
    >>> rules.refuses("http://localhost/"), rules.refuses("http://0x7f.1/")
    (False, True)
    """

    def __init__(
        self,
        allowed: Iterable[str] = (),
        count: Callable[[], None] = lambda: None,
        *,
        off: bool = False,
    ) -> None:
        self._allowed = tuple(f".{_spelled(host)}" for host in allowed)
        self._count = count
        self._off = off
        self._named: set[str] = set()

    def name_host(self, url: str) -> None:
        """Allow the host of a URL that the operator gave."""
        self._named.add(_spelled(host_of(url)))

    def name_origin(self, url: str) -> None:
        """Allow the origin of a URL that the operator gave: a service, and no other port."""
        self._named.add(origin_of(url))

    def refuses(self, url: str, address: str = "") -> bool:
        """Return whether a URL's host, or the address that it resolved to, must not be asked."""
        host = host_of(url)
        if self._off or not is_private(address or host):
            return False
        name = _spelled(host)
        if not self._named.isdisjoint((name, origin_of(url))) or f".{name}".endswith(self._allowed):
            return False
        self._count()
        return True


def _spelled(host: str) -> str:
    """Return the one spelling of a host's address, or its name in lower case."""
    return str(literal(host) or host.lower().strip("."))
