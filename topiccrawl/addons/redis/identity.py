"""Identity of a crawl in Redis: format, strategy and owner; nodes of another crawl are refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from topiccrawl.addons.redis.buckets import BUCKETS
from topiccrawl.errors import StateVersionError

if TYPE_CHECKING:
    from topiccrawl.links.strategies.contract import LinkStrategy

FORMAT = [2, 2]
"""Version of the keys and messages (``lua``), and of the rows, hosts and statistics in them. Raise
one when they change: nodes of different versions must not work on one crawl."""


def about(strategy: LinkStrategy, owner: str) -> str:
    """Return the identity of a crawl as JSON text; it is equal on all nodes of the crawl."""
    identity = {
        "format": FORMAT, "strategy": strategy.name, "fields": list(strategy.fields),
        "owner": owner, "buckets": BUCKETS,
    }  # fmt: skip
    return json.dumps(identity, ensure_ascii=False)


def checked(where: str, text: str) -> dict[str, Any]:
    """Parse the identity of a crawl in Redis and check its format.

    Args:
        where: The crawl, for the error.
        text: Result of ``about`` when the crawl was begun.

    Raises:
        StateVersionError: It is of another format.
    """
    found: dict[str, Any] = json.loads(text)
    if found.get("format") != FORMAT:
        raise StateVersionError(
            "{where}: another version of topiccrawl began this crawl (format "
            "{dotted}, this one knows {dotted2}): go on with that version, "
            "or take the crawl over with its `scrapy frontier export` and "
            "this one's `import`, or start over with -a fresh=1",
            where=where,
            dotted=_dotted(found.get("format")),
            dotted2=_dotted(FORMAT),
        )
    return found


def other_crawl(where: str, text: str, wanted: str) -> StateVersionError:
    """Return the error for a crawl of this format that is not the wanted one.

    Raises:
        StateVersionError: It is of another format.
    """
    checked(where, text)
    return StateVersionError(
        "{where}: Redis holds a crawl of {text}, this one needs "
        "{wanted}; start over with -a fresh=1, or use another database",
        where=where,
        text=text,
        wanted=wanted,
    )


def _dotted(version: object) -> str:
    return ".".join(map(str, version)) if isinstance(version, list) else str(version)
