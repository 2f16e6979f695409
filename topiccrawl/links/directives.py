"""What a page's owner asks of robots: meta elements and X-Robots-Tag, joined to the strictest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from topiccrawl.model import Directives

if TYPE_CHECKING:
    from collections.abc import Iterable

AGENT = "topiccrawl"
"""Our name: directives for it count as those for all robots do; those for others do not."""

_META_NAMES = frozenset({"robots", AGENT})
_AGENT_PREFIX = re.compile(r"\s*([A-Za-z0-9_.-]+)\s*:")
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)


def for_us(name: str) -> bool:
    """Return whether ``<meta name=…>`` speaks to us.

    >>> for_us("ROBOTS"), for_us("topiccrawl"), for_us("googlebot")
    (True, True, False)
    """
    return name.strip().lower() in _META_NAMES


def directives(metas: Iterable[str], headers: Iterable[str] = ()) -> Directives:
    """Return the union of all directives: what any of them forbids is forbidden.

    Args:
        metas: ``content`` of the meta elements that speak to us.
        headers: Values of X-Robots-Tag; one that begins with another robot's name is left out.

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
    """Return the part of one X-Robots-Tag value that speaks to us, or ""."""
    match = _AGENT_PREFIX.match(header)
    if match is None or match.group(1).lower() in _WITH_VALUE:
        return header
    return header[match.end() :] if for_us(match.group(1)) else ""


def _words(text: str) -> list[str]:
    return [word.strip().lower() for word in text.split(",")]
