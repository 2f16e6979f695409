"""Letting go: the records of what is settled, so that only so many URLs are known.

From the first arrival on, round after round, settled rows are looked for: not faster than URLs come
in, so that no call takes long. What was only predicted to be low is forgotten, and new to the next
page that offers it, as what ``tail`` turns away. What was fetched or failed has to be remembered:
it waits until many of its bucket can be added to its filters at once, which are written whole.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from topiccrawl.frontier.numbering import Numbering
from topiccrawl.frontier.offers import LOW_VALUE_REASON
from topiccrawl.frontier.rows import CRAWLED, LOW_VALUE, QUEUED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.frontier.state import State

LOOK = 500
"""Rows looked at in one call at most: a millisecond or two."""
BATCH = 500
"""URLs of a bucket that are added to its filters at once at most."""
PIECE = 50
"""Rows looked at together at least, or an eighth of what may be known."""
WINDOW = 256 * BATCH
"""Settled URLs that may wait for others of their bucket; a quarter of what may be known at most."""
SPARE = 64
"""A part of so many of what may be known may be settled and yet not be looked for."""
BUCKETS = 256


class Shedding:
    """Lets go of settled URLs while more than ``most`` are known.

    Args:
        state: The frontier's open state.
        most: URLs that may be known; 0 is no bound. What is queued or leased always stays.

    Attributes:
        mine: By bucket, whether its rows are ours to change.
    """

    def __init__(self, state: State, most: int) -> None:
        self._state = state
        self._urls = state.urls
        self._most = most
        self._window = min(WINDOW, most // 4)
        self._piece = min(PIECE, most // 8 + 1)
        self._numbering = Numbering(state)
        self._found: dict[int, array[int]] = {}
        self._begin()
        self.mine: Sequence[bool] = (True,) * BUCKETS

    def _begin(self) -> None:
        """Begin a round; what was found waiting is found again."""
        self._at = self._waits = 0
        self._found.clear()

    def step(self) -> int:
        """Let go of some, if too many are known; how many."""
        urls, most = self._urls, self._most
        if not most:
            return 0
        if self._numbering.step(self.mine):
            self._begin()
        before, left = urls.known, LOOK
        while left > 0 and urls.known > most:
            if self._waits <= self._window and self._unfound() > most // SPARE:
                left -= self._look(min(left, max(self._piece, urls.known - most)))
            elif self._found:
                left -= self._remember()
            else:
                break
        return before - urls.known

    def _unfound(self) -> int:
        """Settled URLs that were not found yet."""
        state = self._state
        return self._urls.known - sum(state.queue_sizes()) - len(state.leases.pages()) - self._waits

    def _look(self, most: int) -> int:
        """Look at the next rows: forget low ones, note where others are; how many, at least 1."""
        urls = self._urls
        low: list[int] = []
        numbers = urls.after(self._at, most)
        for number in numbers:
            data = urls.get(number)
            if data[0] == QUEUED or not self.mine[bucket := urls.key(number)[0]]:
                continue
            if data[1] & LOW_VALUE:
                low.append(number)
            else:
                self._found.setdefault(bucket, array("I")).append(number)
                self._waits += 1
        if numbers:
            self._at = numbers[-1]
        else:
            self._begin()
        self._drop("error/" + LOW_VALUE_REASON, "low-value", low)
        return max(len(numbers), 1)

    def _remember(self) -> int:
        """Let go of the first in the bucket where most were found; how many, at least 1."""
        urls = self._urls
        bucket = max(self._found, key=lambda one: len(self._found[one]))
        numbers = self._found[bucket][:BATCH]
        del self._found[bucket][:BATCH]
        self._waits -= len(numbers)
        if not self._found[bucket]:
            del self._found[bucket]
        settled = [
            (number, data) for number in numbers
            if self.mine[bucket] and urls.has(number) and urls.key(number)[0] == bucket
            and (data := urls.get(number))[0] != QUEUED and not data[1] & LOW_VALUE
        ]  # fmt: skip
        self._state.seen.add(bucket, [urls.key(number) for number, _ in settled])
        for number, data in settled:
            if data[0] == CRAWLED:
                self._drop("crawled", "crawled", [number])
            else:
                self._drop("error/" + data.rpartition(b"\0")[2].decode(), "error", [number])
        return max(len(numbers), 1)

    def _drop(self, queue: str, what: str, numbers: list[int]) -> None:
        """Forget rows of a queue, or of an errorQueue's reason, and count what they were."""
        tally, count = self._state.tally, len(numbers)
        tally[queue] -= count
        if queue != "crawled":
            tally["error"] -= count
        tally["let-go/" + what] += count
        tally["known"] -= count
        self._state.store.let_go(numbers)
