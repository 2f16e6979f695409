"""The robots.txt of each host of the demo web, and its rules for topiccrawl."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.demo.plan import Host

_FILES = {
    "open": (200, "User-agent: *\nDisallow:\n"),
    "missing": (404, "not found"),
    "paths": (200, "User-agent: *\nDisallow: /private/\nDisallow: /search\n"),
    "ours": (
        200,
        "User-agent: topiccrawl\nDisallow: /internal/\n\nUser-agent: *\nDisallow: /private/\n",
    ),
    "delay": (200, "User-agent: *\nCrawl-delay: 0.5\nDisallow:\n"),
    "deny": (200, "User-agent: *\nDisallow: /\n"),
    "broken": (503, "overloaded"),
}
_CLOSED = {"paths": ("/private/", "/search"), "ours": ("/internal/",), "deny": ("/",)}
_UNREADABLE = {"refused", "drop"}
"""Faults with which robots.txt cannot be fetched either."""


def robots_file(host: Host) -> tuple[int, str]:
    """Return status and text of a host's robots.txt."""
    return _FILES[host.robots]


def allowed(host: Host, path: str) -> bool:
    """Return whether topiccrawl may fetch a path of a host.

    >>> from lab.demo.plan import Host
    >>> allowed(Host("www.a.test", "ours"), "/internal/memo.html")
    False
    """
    if host.robots == "broken" or host.fault in _UNREADABLE:
        return False
    return not path.startswith(_CLOSED.get(host.robots, ("\0",)))
