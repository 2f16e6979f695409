"""Reaction of a watch to a machine's clock that was set back by hours."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING

from topiccrawl.addons.watch.jumps import LEAST, set_back, visited_at

if TYPE_CHECKING:
    from topiccrawl.addons.watch.visited import Visited

logger = logging.getLogger(__name__)

MOST = 1_000
"""States read at a time."""

_END = 1e12


async def count_from(now: float, visited: Visited) -> None:
    """Reschedule pages that were visited "in the future" by the clock as it was set.

    Raises:
        StorageError: States could not be read or written.
    """
    logger.warning("The clock was set back: what is due is counted from now")
    pages, owner = visited.pages.pages, visited.ledger.owner
    most, after = MOST, 0.0
    while found := await pages.due(owner, _END, most, after):
        ahead = [state.url for state in found if visited_at(state) > now + LEAST]
        await visited.amend(ahead, lambda state: set_back(state, now))
        if len(found) < most:
            break
        if found[0].due == found[-1].due:  # as many more may be due in the same moment
            most *= 2
        after = math.nextafter(found[-1].due, 0.0)
