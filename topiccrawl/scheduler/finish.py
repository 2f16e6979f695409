"""Finish reasons of crawls, and stats about failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

FAILURE = "topiccrawl/failure"
"""Stat with the reason of a failure, set also if the crawl was already closing."""
STORE_FAILED = "store-failed"
"""Finish reason of a crawl whose pages could not be stored."""
DISCOVERY_FAILED = "discovery_failed"
"""Finish reason of a crawl whose seed discovery failed; finding no seeds is not a failure."""
NOTHING_ON_TOPIC = "topiccrawl/nowhere"
"""Stat that is True for a completed crawl of ten pages or more, none of which was on topic, if no
stored page is either."""
SEEDS_UNREACHABLE = "seeds_unreachable"
"""Finish reason of a crawl that could fetch none of its pages."""
PROCESSING_FAILED = "processing_failed"
"""Finish reason of a crawl that fetched pages, each of which raised an error in the spider or in a
pipeline."""
LOW_YIELD = "topiccrawl_yield"
"""Finish reason of a crawl whose forecast is below TOPICCRAWL_STOP_YIELD."""
FAILURES = frozenset(
    {
        DISCOVERY_FAILED,
        SEEDS_UNREACHABLE,
        PROCESSING_FAILED,
        "setting_error",
        "state_error",
        "storage_error",
        "start_error",
        STORE_FAILED,
    }
)
"""Finish reasons that make ``scrapy crawl`` exit with a non-zero status."""


def is_processing_error(reason: str) -> bool:
    """Return whether the reason of an error in the queue is that of a page that was fetched."""
    return reason == "item-error" or reason.startswith("callback-")


def reason_without_pages(counts: Mapping[str, int]) -> str:
    """Return the finish reason of a crawl that crawled no page, by the counts of its frontier.

    >>> reason_without_pages({"error/http-404": 1})
    'seeds_unreachable'
    """
    errors = (name.removeprefix("error/") for name, number in counts.items() if number)
    return PROCESSING_FAILED if any(map(is_processing_error, errors)) else SEEDS_UNREACHABLE


def failed(stats: Mapping[str, Any]) -> bool:
    """Check whether a crawl failed, by its final statistics.

    >>> failed({"finish_reason": "finished"}), failed({"finish_reason": "storage_error"})
    (False, True)
    """
    return FAILURE in stats or stats.get("finish_reason") in FAILURES
