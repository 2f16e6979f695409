"""What a page's links do to the frontier: new URLs enter, known ones grow and move."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from xxhash import xxh3_64_digest

from topiccrawl.frontier.contract import PRIOR, REJECTED
from topiccrawl.frontier.keys import KEY_BYTES
from topiccrawl.frontier.rows import (
    ERROR,
    LOW_VALUE,
    PARENT,
    PINNED,
    QUEUED,
    Row,
    counted,
    decode,
    quantum,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.frontier.contract import Limits, Outcome, Seed, Strategy
    from topiccrawl.frontier.places import Place
    from topiccrawl.frontier.state import State
    from topiccrawl.records import Offer

MAX_DEPTH = 65_535
LOW_VALUE_REASON = "low-value"
_by_key = itemgetter(0)


class Intake:
    """The way into the frontier, for links, seeds and redirects.

    Args:
        state: The frontier's open state.
        strategy: Folds evidence and gives values.
        limits: For the depth.
    """

    def __init__(self, state: State, strategy: Strategy, limits: Limits) -> None:
        self._state = state
        self._strategy = strategy
        self._max_depth = min(limits.max_depth or MAX_DEPTH, MAX_DEPTH)

    def links(self, parent: Row, parent_key: bytes, offers: Sequence[Offer]) -> int:
        """Count a page's links that were not counted before, queue what is new; their number."""
        store = self._state.store
        cursor = store.txn.cursor(store.urls)
        before = self._counted(parent_key)
        seen = {key for key in before if cursor.set_key(key)}
        taken = self.admit(offers, parent_key, parent.depth + 1, seen)
        if taken:
            before.update(dict.fromkeys(taken))
            store.txn.put(parent_key, b"".join(before), db=store.outlinks)
        return len(taken)

    def admit(
        self, offers: Iterable[Offer], parent_key: bytes, depth: int, seen: set[bytes]
    ) -> list[bytes]:
        """Count links of a page but those to ``seen``, queue what is new; keys of what was taken.

        New URLs beyond the depth bound are counted, not taken.
        """
        seen.add(parent_key)
        fresh = self._sorted(offers, seen)
        cursor = self._state.store.txn.cursor(self._state.store.urls)
        known = dict(cursor.getmulti([key for key, _, _, _ in fresh]))
        first = (parent_key, depth)
        rows = []
        self._state.queues.gather()
        for key, seq, offer, place in fresh:
            data = known.get(key)
            if data is not None:
                rows.append((key, self._again(data, key, parent_key, offer)))
            elif depth <= self._max_depth:
                rows.append((key, self._first(key, seq, offer, place, first)))
        self._state.queues.flush()
        if rows:
            cursor.putmulti(rows)
        if len(rows) < len(fresh):
            self._state.tally["depth"] += len(fresh) - len(rows)
        return [key for key, _ in rows]

    def seed(self, seed: Seed) -> bool:
        """Queue a URL in priorQueue; False where it is known."""
        state = self._state
        place = state.place(seed.url)
        if place is None:
            return False
        key = place.digest + xxh3_64_digest(seed.url.encode())
        if state.store.txn.get(key, None, state.store.urls) is not None:
            return False
        row = Row(texts(seed.url, payload=seed.payload), PRIOR, quantum(seed.value), state.seq)
        state.seq += 1
        row.flags = PINNED
        row.version = self._strategy.version
        row.depth = min(max(seed.depth, 0), MAX_DEPTH)
        self._settle_in(row, key, place, seed.url)
        return True

    def redirected(self, source: Row, source_key: bytes, outcome: Outcome) -> None:
        """Let the target of a redirect take over what its source was worth."""
        state, target = self._state, outcome.target
        place = state.place(target)
        if place is None:
            return
        key = place.digest + xxh3_64_digest(target.encode())
        if key == source_key:
            return
        if self.refresh(source):
            source.lane, source.value = self.judge(source, source.lane)
        data = state.store.txn.get(key, None, state.store.urls)
        if data is None:
            row = self._heir(source, outcome, state.seq)
            state.seq += 1
            row.first = source_key
            row.redirects = min(outcome.redirects, 255)
            self._settle_in(row, key, place, target)
        elif _may_move(data):
            row = decode(data)
            self.refresh(row)
            if source.evidence:
                known = row.evidence
                row.evidence = self._strategy.fold(known, source.evidence)
            lane, value = self.judge(row, source.lane)
            if not source.evidence:
                row.flags |= PINNED
                value = max(value, source.value)
            state.move(row, key, lane, value)
            state.put(key, row)

    def _counted(self, parent: bytes) -> dict[bytes, None]:
        """Keys of the parent's links that were counted, in that order."""
        packed = self._state.store.txn.get(parent, b"", self._state.store.outlinks) or b""
        return {packed[at : at + KEY_BYTES]: None for at in range(0, len(packed), KEY_BYTES)}

    @staticmethod
    def _heir(source: Row, outcome: Outcome, seq: int) -> Row:
        _, anchor, context, payload, _ = source.texts.split(b"\0")
        given = payload.decode() if outcome.payload is None else outcome.payload
        heritage = texts(outcome.target, anchor.decode(), context.decode(), given)
        row = Row(heritage, source.lane, source.value, seq)
        row.evidence, row.version = source.evidence, source.version
        row.flags = source.flags & PINNED
        row.depth = source.depth
        return row

    def refresh(self, row: Row) -> bool:
        """Make a row's evidence anew from its texts if it is of another version; whether it was.

        Value and lane follow with ``judge``; the row is not moved.
        """
        version = self._strategy.version
        if row.version == version:
            return False
        row.version = version
        if row.evidence:
            _, anchor, context, _, _ = row.texts.split(b"\0")
            row.evidence = self._strategy.rescore(row.evidence, anchor.decode(), context.decode())
        return True

    def judge(self, row: Row, lane: int) -> tuple[int, int]:
        """Lane and value (in quanta) of a row by its evidence; ``lane`` is the worst it gets."""
        if not row.evidence:
            return min(row.lane, lane), row.value
        value = quantum(self._strategy.value(row.evidence))
        if row.flags & PINNED:
            value = max(value, row.value)
        return min(row.lane, lane, self._strategy.lane(row.evidence)), value

    def _sorted(
        self, offers: Iterable[Offer], seen: set[bytes]
    ) -> list[tuple[bytes, int, Offer, Place]]:
        """Offers not seen yet in the order of their keys, numbered in the order of the page."""
        found = []
        state = self._state
        places = state.places.by_prefix
        seq = state.seq
        for offer in offers:
            url = offer[0]
            place = places.get(url[: url.find("/", 8) + 1]) or state.place(url)
            if place is None:
                continue
            key = place.digest + xxh3_64_digest(url.encode())
            if key not in seen:
                seen.add(key)
                found.append((key, seq, offer, place))
                seq += 1
        state.seq = seq
        found.sort(key=_by_key)
        return found

    def _first(
        self, key: bytes, seq: int, offer: Offer, place: Place, origin: tuple[bytes, int]
    ) -> bytes:
        strategy = self._strategy
        url, lane, evidence, anchor, context = offer
        evidence = strategy.fold((), evidence)
        value = quantum(strategy.value(evidence))
        lane = min(lane, strategy.lane(evidence))
        row = Row(texts(url, anchor, context), lane, value, seq)
        row.evidence = evidence
        row.inlinks = 1
        row.version = strategy.version
        row.first, row.depth = origin
        row.parents = PARENT.pack(row.first, value)
        self._house(row, key, place, url)
        return row.encode()

    def _settle_in(self, row: Row, key: bytes, place: Place, url: str) -> None:
        self._house(row, key, place, url)
        self._state.put(key, row)

    def _house(self, row: Row, key: bytes, place: Place, url: str) -> None:
        """Give a new row its unit, and queue it or put it into the errorQueue."""
        state = self._state
        unit, new = state.places.unit(place, self._strategy.group(url))
        if new:
            state.biases.update(unit)
        row.host, row.unit = unit.host.id, unit.uid
        state.tally["known"] += 1
        if row.lane < REJECTED:
            state.queues.enter(row, key)
        else:
            row.flags |= LOW_VALUE
            state.fail(row, LOW_VALUE_REASON)

    def _again(self, data: bytes, key: bytes, parent_key: bytes, offer: Offer) -> bytes:
        """A known row after one more page linked to it."""
        if not _may_move(data):
            return counted(data)
        strategy = self._strategy
        row = decode(data)
        row.inlinks += 1
        if row.version != strategy.version:
            self.refresh(row)
        _, lane, evidence, anchor, context = offer
        fresh = strategy.fold((), evidence)
        if row.add_parent(parent_key, quantum(strategy.value(fresh))):
            row.keep_texts(anchor, context)
        row.evidence = strategy.fold(row.evidence, evidence) if row.evidence else fresh
        lane, value = self.judge(row, lane)
        if lane != row.lane or value != row.value:
            self._state.move(row, key, lane, value)
        return row.encode()


def _may_move(data: bytes) -> bool:
    """Whether a stored row is queued, or in the errorQueue only for its low value."""
    return data[0] == QUEUED or (data[0] == ERROR and bool(data[2] & LOW_VALUE))
