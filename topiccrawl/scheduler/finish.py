"""Reasons why crawls end, and which of them are failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

FAILURE = "topiccrawl/failure"
"""Stat that names what went wrong, also where it did so after the crawl had begun to close."""
CLOSE_REASON = "store-failed"
"""Finish reason of a crawl whose pages could not be stored."""
DISCOVERY_FAILED = "discovery_failed"
"""Finish reason of a crawl that found nowhere to begin, and not because there is nothing."""
SEEDS_UNREACHABLE = "seeds_unreachable"
"""Finish reason of a crawl none of whose pages could be fetched."""
FAILURES = frozenset(
    {
        DISCOVERY_FAILED,
        SEEDS_UNREACHABLE,
        "setting_error",
        "state_error",
        "storage_error",
        "start_error",
        CLOSE_REASON,
    }
)
"""Finish reasons that make ``scrapy crawl`` exit with a non-zero status."""


def failed(stats: Mapping[str, Any]) -> bool:
    """Whether a crawl failed, by the statistics that it left.

    >>> failed({"finish_reason": "finished"}), failed({"finish_reason": "storage_error"})
    (False, True)
    """
    return FAILURE in stats or stats.get("finish_reason") in FAILURES
