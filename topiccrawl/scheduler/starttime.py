"""Start times given by an operator: the last crawl, a date, or a number of hours or days ago."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from topiccrawl.errors import ConfigurationError, StateError, translated
from topiccrawl.messages import message
from topiccrawl.storage.crawls import CrawlLog

if TYPE_CHECKING:
    from pathlib import Path

LAST = "last"
"""Text that means the start of the last crawl."""

_AGO = re.compile(r"(\d{1,9})([hd])")
_SECONDS = {"h": 3_600.0, "d": 86_400.0}


def parse_since(
    text: str, folder: str | Path, owner: str, now: float, *, ended: bool = False
) -> float:
    """Parse a start time; return seconds since the epoch.

    Args:
        text: ``last``, ``12h``, ``7d``, or a date or time such as 2026-01-31 or 2026-01-31T08:00
            (local time).
        folder: TOPICCRAWL_DATA_DIR, for ``last``.
        owner: Topic or template of the last crawl.
        now: Current time, seconds since the epoch.
        ended: Let ``last`` mean the end of the last crawl (its start if it was killed, ``now`` if
            there was none).

    Raises:
        ConfigurationError: The text has another form.
        StateError: There was no crawl.

    >>> parse_since("2h", "data", "足球", 10_000.0)
    2800.0
    """
    if text == LAST:
        crawl = CrawlLog(folder).last(owner)
        if crawl is None and ended:
            return now
        if crawl is None:
            raise StateError(
                "{folder}: no crawl for {owner!r} has been run with this folder; name a day, such "
                "as 2026-01-31, instead of {last}",
                folder=folder,
                owner=owner,
                last=LAST,
            )
        return crawl.finished or crawl.started if ended else crawl.started
    if ago := _AGO.fullmatch(text):
        return max(0.0, now - int(ago[1]) * _SECONDS[ago[2]])
    invalid = message("since {text!r}: write {last}, 12h, 7d or a day such as 2026-01-31")
    causes = (ValueError, OverflowError)
    with translated(ConfigurationError, invalid, causes, text=text, last=LAST):
        return datetime.fromisoformat(text).timestamp()


def check_since(text: str) -> None:
    """Check that ``parse_since`` accepts the text.

    Raises:
        ConfigurationError: It does not.
    """
    if text and text != LAST:
        parse_since(text, "", "", 0.0)
