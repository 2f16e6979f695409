"""What a crawl in Redis is, as it says itself: its form, strategy and owner; others are refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from topiccrawl.addons.redis.buckets import BUCKETS
from topiccrawl.errors import StateVersionError

if TYPE_CHECKING:
    from topiccrawl.frontier.contract import Strategy

FORMAT = [2, 2]
"""Version of the keys and letters (``lua``), and of the rows, hosts and statistics in them. Raise
one when they change: nodes of an earlier and a later version must not meet on one crawl."""


def about(strategy: Strategy, owner: str) -> str:
    """JSON text that says what a crawl is; nodes of a crawl say the same."""
    told = {
        "format": FORMAT, "strategy": strategy.name, "fields": list(strategy.fields),
        "owner": owner, "buckets": BUCKETS,
    }  # fmt: skip
    return json.dumps(told, ensure_ascii=False)


def checked(where: str, text: str) -> dict[str, Any]:
    """What a crawl in Redis says of itself.

    Args:
        where: The crawl, for the error.
        text: What ``about`` gave when it was begun.

    Raises:
        StateVersionError: It is of another format.
    """
    found: dict[str, Any] = json.loads(text)
    if found.get("format") != FORMAT:
        raise StateVersionError(
            f"{where}: another version of topiccrawl began this crawl (format"
            f" {_dotted(found.get('format'))}, this one knows {_dotted(FORMAT)}): go on with that"
            " version, or take the crawl over with its `scrapy frontier export` and this one's"
            " `import`, or begin anew with -a fresh=1"
        )
    return found


def other_crawl(where: str, text: str, wanted: str) -> StateVersionError:
    """The error of a crawl that is not the one wanted, though of this format.

    Raises:
        StateVersionError: It is of another format.
    """
    checked(where, text)
    return StateVersionError(
        f"{where}: Redis holds a crawl of {text}, this one needs {wanted}; begin anew with"
        " -a fresh=1, or use another database"
    )


def _dotted(version: object) -> str:
    return ".".join(map(str, version)) if isinstance(version, list) else str(version)
