"""Numbers of arrival closed up: where most URLs were let go, those left get the lowest numbers.

What RAM holds of a URL lies under its number, and so does what the log has to say of one that was
deleted. Numbers only grow: without this both would grow for ever, however few URLs are known. Rows
are moved a few at a time, in their order, to the lowest number that is free; then numbers are given
out anew from there. So the order of arrival stays, and there are at most some ``SPREAD`` numbers
for a URL that is known. A row on its way from or to another node is waited for, and so is whoever
reads all rows: none comes twice, or not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.rows import DELAYED, QUEUED, decode, renumbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.frontier.state import State

SPREAD = 4
"""Numbers given out for each URL that is known, beyond which they are closed up."""
LEAST = 1 << 17
"""Numbers below which nothing is gained."""
LOOK, MOVES = 500, 60
"""Rows looked at, and moved, in one call at most; as many as came in besides, up to ``LOOK``."""


class Numbering:
    """Closes up the numbers of a frontier.

    Args:
        state: The open state.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._urls = state.urls
        self._at = self._free = self._told = 0

    def step(self, mine: Sequence[bool]) -> bool:
        """Move a few rows, if that is due; whether numbers were closed up with it.

        ``mine``: by first byte of a key, whether its rows are ours to change.
        """
        urls, seq = self._urls, self._state.seq
        if urls.readers:
            return False
        if not self._free:
            if seq <= max(LEAST, SPREAD * urls.known):
                return False
            self._at, self._free, self._told = 0, 1, seq
        came, self._told = min(seq - self._told, LOOK), seq
        left, look = MOVES + came, LOOK + came
        numbers = urls.after(self._at, look)
        for number in numbers:
            if left <= 0 or not mine[urls.key(number)[0]]:
                return False
            left -= self._place(number)
            self._at = number
        return len(numbers) < look and self._end()

    def _place(self, number: int) -> bool:
        """Give a row the lowest number that is free; whether it had another."""
        while self._free < number and self._urls.has(self._free):
            self._free += 1  # taken meanwhile by a row from elsewhere, which keeps its number
        moves = self._free < number
        if moves:
            self._move(number, self._free)
        self._free += 1
        return moves

    def _move(self, old: int, new: int) -> None:
        state, urls = self._state, self._urls
        key, data, links = urls.key(old), urls.get(old), urls.links(old)
        held = state.leases.held.get(key)
        if held is not None:
            held.number = new
        elif data[0] == QUEUED and not data[1] & DELAYED:
            row = decode(data)
            row.seq = new
            state.queues.enter(row, key)
            row.seq = old
            state.queues.leave(row, key)
        version, at = state.swept
        if new <= at < old:
            state.swept = version, new - 1  # a sweep would pass over it
        urls.delete(old)
        urls.add(key, new, renumbered(data, new))
        if links:
            urls.put_links(new, links)

    def _end(self) -> bool:
        """Give numbers out anew from the lowest free one, unless a larger one was taken."""
        state, free = self._state, self._free
        if self._urls.after(free - 1, 1):
            self._at = free - 1
            return False
        state.seq = free
        self._at = self._free = 0
        return True
