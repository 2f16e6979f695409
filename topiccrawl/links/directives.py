"""Robots directives of a page, merged from meta elements and X-Robots-Tag; the strictest wins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.model import Directives

if TYPE_CHECKING:
    from collections.abc import Iterable

AGENT = "topiccrawl"
"""Name of this robot; directives for it and for all robots apply."""

_META_NAMES = frozenset({"robots", AGENT})
_AGENT_PREFIX = re.compile(r"\s*([A-Za-z0-9_.-]+)\s*:")
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)


def applies_to_robot(name: str) -> bool:
    """Return whether ``<meta name=…>`` addresses this robot.

    >>> applies_to_robot("ROBOTS"), applies_to_robot("topiccrawl"), applies_to_robot("googlebot")
    (True, True, False)
    """
    return name.strip().lower() in _META_NAMES


def directives(metas: Iterable[str], headers: Iterable[str] = ()) -> Directives:
    """Merge directives; anything that one of them forbids is forbidden.

    Args:
        metas: ``content`` of the meta elements that address this robot.
        headers: Values of X-Robots-Tag; a value addressed to another robot is ignored.

    >>> directives(["NOARCHIVE"], ["otherbot: noindex", "topiccrawl: nofollow"])
    Directives(noindex=False, nofollow=True, noarchive=True)
    """
    found: set[str] = set()
    for text in metas:
        found.update(_words(text))
    for text in headers:
        found.update(_words(_addressed_part(text)))
    forbids_all = "none" in found
    return Directives(
        noindex=forbids_all or "noindex" in found,
        nofollow=forbids_all or "nofollow" in found,
        noarchive="noarchive" in found or "nocache" in found,
    )


def _addressed_part(header: str) -> str:
    """Return the part of one X-Robots-Tag value that addresses this robot, or ""."""
    match = _AGENT_PREFIX.match(header)
    if match is None or match.group(1).lower() in _WITH_VALUE:
        return header
    return header[match.end() :] if applies_to_robot(match.group(1)) else ""


def _words(text: str) -> list[str]:
    return [word.strip().lower() for word in text.split(",")]
