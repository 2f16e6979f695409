"""Robots directives of a page: meta elements and X-Robots-Tag, merged; the strictest wins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.model import Directives

if TYPE_CHECKING:
    from collections.abc import Iterable

AGENT = "topiccrawl"
"""Name of this robot: directives for it and for all robots apply, those for others do not."""

_META_NAMES = frozenset({"robots", AGENT})
_AGENT_PREFIX = re.compile(r"\s*([A-Za-z0-9_.-]+)\s*:")
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)


def for_us(name: str) -> bool:
    """Return whether ``<meta name=…>`` addresses this robot.

    >>> for_us("ROBOTS"), for_us("topiccrawl"), for_us("googlebot")
    (True, True, False)
    """
    return name.strip().lower() in _META_NAMES


def directives(metas: Iterable[str], headers: Iterable[str] = ()) -> Directives:
    """Return the union of all directives: what any of them forbids is forbidden.

    Args:
        metas: ``content`` of the meta elements that address this robot.
        headers: Values of X-Robots-Tag; one that begins with another robot's name is ignored.

    >>> directives(["NOARCHIVE"], ["otherbot: noindex", "topiccrawl: nofollow"])
    Directives(noindex=False, nofollow=True, noarchive=True)
    """
    said: set[str] = set()
    for text in metas:
        said.update(_words(text))
    for text in headers:
        said.update(_words(_ours(text)))
    everything = "none" in said
    return Directives(
        noindex=everything or "noindex" in said,
        nofollow=everything or "nofollow" in said,
        noarchive="noarchive" in said or "nocache" in said,
    )


def _ours(header: str) -> str:
    """Return the part of one X-Robots-Tag value that addresses this robot, or ""."""
    match = _AGENT_PREFIX.match(header)
    if match is None or match.group(1).lower() in _WITH_VALUE:
        return header
    return header[match.end() :] if for_us(match.group(1)) else ""


def _words(text: str) -> list[str]:
    return [word.strip().lower() for word in text.split(",")]
