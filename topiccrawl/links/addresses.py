"""Detection of URLs that lead to this machine, a private network or a link-local address."""

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
"""Names whose subdomains are never public hosts (RFC 6761, 6762, 8375; ICANN)."""
_PROXY_PLACEHOLDERS = IPv4Network("198.18.0.0/15")
"""Placeholder addresses that local proxies assign to public hosts (RFC 2544)."""
_TRANSLATED = IPv6Network("64:ff9b::/96")
"""IPv4 addresses mapped into IPv6-only networks (RFC 6052)."""


def parse_ip(host: str) -> IPv4Address | IPv6Address | None:
    """Parse a host that is an IP address in any notation; return None for a host name.

    An IPv6 address that embeds an IPv4 address gives the IPv4 address.

    >>> parse_ip("0x7f.1"), parse_ip("2130706433")
    (IPv4Address('127.0.0.1'), IPv4Address('127.0.0.1'))
    >>> parse_ip("[::ffff:10.0.0.1]"), parse_ip("a.test")
    (IPv4Address('10.0.0.1'), None)
    """
    text = normalize("NFKC", host).replace("。", ".").strip("[].").partition("%")[0]
    try:
        if ":" in text:
            return _embedded_ipv4(IPv6Address(text))
        return ip_address(socket.inet_aton(text)) if text[:1].isdigit() else None
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=4096)
def is_private(host: str) -> bool:
    """Return whether a host is a non-public address or a non-public name.

    >>> is_private("169.254.169.254"), is_private("localhost"), is_private("93.184.216.34")
    (True, True, False)
    """
    address = parse_ip(host)
    if address is None:
        return f".{host.lower().strip('.')}".endswith(tuple(f".{n}" for n in _PRIVATE_NAMES))
    if isinstance(address, IPv4Address):
        return address not in _PROXY_PLACEHOLDERS and (
            not address.is_global or address.is_multicast
        )
    special = address.is_multicast or address.is_reserved or address.is_site_local
    return special or not address.is_global


def _embedded_ipv4(address: IPv6Address) -> IPv4Address | IPv6Address:
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


class AddressRules:
    """Refusal of private addresses, except for hosts that the operator configured.

    Args:
        allowed: Hosts that may be private; their subdomains are included.
        count: Called for each refusal.
        off: Disable the check.

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
        self._allowed = tuple(f".{_normalized(host)}" for host in allowed)
        self._count = count
        self._off = off
        self._named: set[str] = set()

    def allow_host(self, url: str) -> None:
        """Allow the host of a URL that the operator configured."""
        self._named.add(_normalized(host_of(url)))

    def allow_origin(self, url: str) -> None:
        """Allow the origin (scheme, host and port) of a URL that the operator configured."""
        self._named.add(origin_of(url))

    def refuses(self, url: str, address: str = "") -> bool:
        """Return whether requests to a URL's host, or to its resolved address, are refused."""
        host = host_of(url)
        if self._off or not is_private(address or host):
            return False
        name = _normalized(host)
        if not self._named.isdisjoint((name, origin_of(url))) or f".{name}".endswith(self._allowed):
            return False
        self._count()
        return True


def _normalized(host: str) -> str:
    """Return the canonical form of an IP address, or a host name in lower case."""
    return str(parse_ip(host) or host.lower().strip("."))
