"""Address of the dashboard, parsed from its setting."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topiccrawl.errors import SettingError
from topiccrawl.scheduler.hooks import components

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

    from scrapy.settings import BaseSettings

PORT = 8420
"""Default port."""


@dataclass(frozen=True, slots=True)
class Address:
    """Address that a server listens on.

    Attributes:
        host: IP address of an interface, or a host name.
        port: Port number; 0 selects a free port.
    """

    host: str = "127.0.0.1"
    port: int = PORT

    @property
    def local(self) -> bool:
        """True if only this machine can reach the address."""
        return is_loopback(self.host)


def address_of(text: str) -> Address | None:
    """Parse an address; return None if the server is off.

    Raises:
        SettingError: If the text is not a valid address.

    >>> address_of("on"), address_of("0.0.0.0:80"), address_of("off")
    (Address(host='127.0.0.1', port=8420), Address(host='0.0.0.0', port=80), None)
    """
    value = text.strip().lower()
    if value in {"", "off", "no", "false", "none"}:
        return None
    if value in {"on", "yes", "true"}:
        return Address()
    host, _, port = value.rpartition(":")
    literal = host.strip("[]")
    broken = ":" in host and (host != f"[{literal}]" or ip_address(literal) is None)
    if broken or not port.isdigit() or int(port) > 65_535:  # noqa: PLR2004
        raise SettingError(
            "TOPICCRAWL_DASHBOARD is {text!r}: set it to on, off, a port (0 for "
            "a free one) or ADDRESS:PORT such as 0.0.0.0:8420 or [::1]:8420",
            text=text,
        )
    return Address(literal or "127.0.0.1", int(port))


def address_in(settings: BaseSettings) -> Address | None:
    """Parse TOPICCRAWL_DASHBOARD; see ``address_of``."""
    return address_of(str(settings.get("TOPICCRAWL_DASHBOARD") or ""))


def check_dashboard(settings: BaseSettings) -> None:
    """Check the address of the dashboard and, if it is on, its routes and sections.

    Raises:
        SettingError: A setting cannot be used.
    """
    if address_in(settings) is not None:
        for name in ("TOPICCRAWL_DASHBOARD_ROUTES", "TOPICCRAWL_DASHBOARD_SECTIONS"):
            components(settings, name)


def ip_address(name: str) -> IPv4Address | IPv6Address | None:
    """Parse an IP address; return None for other names."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def is_loopback(name: str) -> bool:
    """Return whether a host name or IP address is a loopback address.

    >>> is_loopback("127.0.0.9"), is_loopback("::1"), is_loopback("192.0.2.1")
    (True, True, False)
    """
    address = ip_address(name.partition("%")[0])
    return name == "localhost" or (address is not None and address.is_loopback)
