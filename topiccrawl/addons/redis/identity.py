"""Identity of a crawl in Redis: format, strategy and owner. Nodes of another crawl are rejected."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from topiccrawl.addons.redis.buckets import BUCKETS
from topiccrawl.errors import StateVersionError

if TYPE_CHECKING:
    from topiccrawl.links.strategies.contract import LinkStrategy

FORMAT = [2, 2]
"""Version of the keys and messages (``lua``), and version of the rows, hosts and statistics in
them. Increase the number of what changes: nodes of different formats must not share a crawl."""


def crawl_identity(strategy: LinkStrategy, owner: str) -> str:
    """Return the identity of a crawl as JSON; it is equal on all nodes of the crawl."""
    identity = {
        "format": FORMAT, "strategy": strategy.name, "fields": list(strategy.fields),
        "owner": owner, "buckets": BUCKETS,
    }  # fmt: skip
    return json.dumps(identity, ensure_ascii=False)


def parse_identity(where: str, text: str) -> dict[str, Any]:
    """Parse the identity of a crawl in Redis and check its format.

    Args:
        where: Name of the crawl for the error text.
        text: Result of ``crawl_identity`` at the start of the crawl.

    Raises:
        StateVersionError: If it has another format.
    """
    found: dict[str, Any] = json.loads(text)
    if found.get("format") != FORMAT:
        raise StateVersionError(
            "{where}: another version of topiccrawl started this crawl (format "
            "{dotted}, this version needs {dotted2}): continue with that version, "
            "or move the crawl with its `scrapy frontier export` and "
            "`import` of this version, or start over with -a fresh=1",
            where=where,
            dotted=_dotted(found.get("format")),
            dotted2=_dotted(FORMAT),
        )
    return found


def identity_mismatch(where: str, text: str, wanted: str) -> StateVersionError:
    """Return the error for a crawl with a different identity.

    Raises:
        StateVersionError: If it has another format.
    """
    parse_identity(where, text)
    return StateVersionError(
        "{where}: Redis holds a crawl of {text}, this one needs "
        "{wanted}; start over with -a fresh=1, or use another database",
        where=where,
        text=text,
        wanted=wanted,
    )


def _dotted(version: object) -> str:
    return ".".join(map(str, version)) if isinstance(version, list) else str(version)
