"""What a page's links do to the frontier: new URLs enter, known ones grow and move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xxhash import xxh3_64_digest

from topiccrawl.frontier.contract import PRIOR, REJECTED
from topiccrawl.frontier.judge import Judge
from topiccrawl.frontier.keys import KEY_BYTES
from topiccrawl.frontier.rows import (
    ERROR,
    FLOATS,
    FRESH,
    HEAD_BYTES,
    LINKED,
    LOW_VALUE,
    MOVED,
    MOVING_AT,
    PINNED,
    PLAIN,
    QUEUED,
    Row,
    counted,
    decode,
    heir,
    may_move,
    quantum,
    texts,
    with_evidence_texts,
    with_parent,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.frontier.contract import Limits, Outcome, Seed, Strategy
    from topiccrawl.frontier.places import Place, Unit
    from topiccrawl.frontier.state import State
    from topiccrawl.model import Offer

    Fresh = dict[bytes, tuple[Offer, Place]]

MAX_DEPTH = 65_535
LOW_VALUE_REASON = "low-value"


class Intake:
    """The way into the frontier, for links, seeds and redirects.

    Args:
        state: The frontier's open state.
        strategy: Folds evidence and gives values.
        limits: For the depth.
    """

    def __init__(self, state: State, strategy: Strategy, limits: Limits) -> None:
        self._state = state
        self._urls = state.urls
        self._queues = state.queues
        self._held = state.leases.held
        self._hosts = state.places.hosts
        self._strategy = strategy
        self._judge = Judge(strategy)
        self._max_depth = min(limits.max_depth or MAX_DEPTH, MAX_DEPTH)

    def links(self, parent: Row, parent_key: bytes, offers: Sequence[Offer]) -> int:
        """Count a page's links that were not counted before, queue what is new; their number."""
        before = self._counted(parent_key, parent.seq)
        seen = {key for key in before if self._urls.find(key)}
        taken = self.admit(offers, parent_key, parent.depth + 1, seen)
        if taken:
            before.update(dict.fromkeys(taken))
            self._urls.put_links(parent.seq, b"".join(before))
        return len(taken)

    def admit(
        self, offers: Iterable[Offer], parent_key: bytes, depth: int, seen: set[bytes]
    ) -> list[bytes]:
        """Count links of a page but those to ``seen``, queue what is new; keys of what was taken.

        New URLs beyond the depth bound are counted, not taken.
        """
        seen.add(parent_key)
        fresh = self._keyed(offers, seen)
        state, urls = self._state, self._urls
        known: dict[int, bytes] = {}
        new: dict[bytes, bytes] = {}
        taken: list[bytes] = []
        origin = parent_key, depth
        first = state.seq
        picky = state.queues.near_bound(len(fresh))
        numbers = urls.find_many(list(fresh))
        if state.seen:
            fresh, numbers = self._unseen(fresh, numbers)
        rows = urls.get_many(numbers)
        for number, row, (key, (offer, place)) in zip(numbers, rows, fresh.items(), strict=True):
            if number:
                known[number] = self._again(row, key, parent_key, offer)
            elif depth > self._max_depth:
                state.tally["depth"] += 1
                continue
            elif made := self._first(first + len(new), offer, place, origin, picky=picky):
                new[key] = made
            else:
                continue
            taken.append(key)
        urls.update(known)
        if new:
            urls.add_many(list(new), first, list(new.values()))
            state.arrive(len(new))
        state.tally["known"] += len(new)
        return taken

    def seed(self, seed: Seed) -> bool:
        """Queue a URL in priorQueue; False where it is known, or was let go."""
        state = self._state
        place = state.place(seed.url)
        if place is None:
            return False
        key = place.digest + xxh3_64_digest(seed.url.encode())
        if self._urls.find(key) or self._was_let_go(key):
            return False
        self.plant(seed, key, place)
        return True

    def plant(self, seed: Seed, key: bytes, place: Place) -> None:
        """Queue a URL that is not known, even if it was seen and let go."""
        state = self._state
        row = Row(texts(seed.url, payload=seed.payload), PRIOR, quantum(seed.value), state.arrive())
        row.flags = PINNED
        row.version = self._strategy.version
        row.depth = min(max(seed.depth, 0), MAX_DEPTH)
        self._settle_in(row, key, place, seed.url)

    def _was_let_go(self, key: bytes) -> bool:
        """Whether a URL was seen and has no record any more; if so, it is counted."""
        if key not in self._state.seen or self._urls.find(key):
            return False
        self._state.tally["seen"] += 1
        return True

    def redirected(self, source: Row, source_key: bytes, outcome: Outcome) -> None:
        """Let the target of a redirect take over what its source was worth."""
        state, target = self._state, outcome.target
        place = state.place(target)
        if place is None:
            return
        key = place.digest + xxh3_64_digest(target.encode())
        if key == source_key or self._was_let_go(key):
            return
        if self._judge.refresh(source):
            source.lane, source.value = self._judge.standing(source, source.lane)
        data = self._urls.row(key)
        if not data:
            row = heir(source, target, outcome.payload, state.arrive())
            row.first = source_key
            row.redirects = min(outcome.redirects, 255)
            self._settle_in(row, key, place, target)
        elif may_move(data):
            row = decode(data)
            self._judge.refresh(row)
            if source.evidence:
                known = row.evidence
                row.evidence = self._strategy.fold(known, source.evidence)
            lane, value = self._judge.standing(row, source.lane)
            if not source.evidence:
                row.flags |= PINNED
                value = max(value, source.value)
            state.move(row, key, lane, value)
            state.put(row)

    def _keyed(self, offers: Iterable[Offer], seen: set[bytes]) -> Fresh:
        """Offers not seen yet by key, in the order of the page, the first of each."""
        found: Fresh = {}
        look = self._state.places.by_prefix.get
        for offer in offers:
            url = offer[0]
            place = look(url[: url.find("/", 8) + 1]) or self._state.place(url)
            if place is not None:
                found.setdefault(place.digest + xxh3_64_digest(url.encode()), (offer, place))
        for key in seen:
            found.pop(key, None)
        return found

    def _unseen(self, fresh: Fresh, numbers: list[int]) -> tuple[Fresh, list[int]]:
        """Offers and numbers of their URLs but those that were let go, which are counted."""
        gone = self._state.seen.among(fresh, numbers)
        if not gone:
            return fresh, numbers
        self._state.tally["seen"] += len(gone)
        left = [number for key, number in zip(fresh, numbers, strict=True) if key not in gone]
        return {key: offer for key, offer in fresh.items() if key not in gone}, left

    def _counted(self, key: bytes, number: int) -> dict[bytes, None]:
        """Keys of a page's links that were counted, in that order."""
        packed = self._state.store.links(key, number)
        return {packed[at : at + KEY_BYTES]: None for at in range(0, len(packed), KEY_BYTES)}

    def _first(
        self, number: int, offer: Offer, place: Place, origin: tuple[bytes, int], *, picky: bool
    ) -> bytes:
        """The row of a URL that is new, queued or put into the errorQueue; b"" if turned away."""
        strategy, state = self._strategy, self._state
        url, lane, evidence, anchor, context = offer
        parent, depth = origin
        evidence = strategy.fold((), evidence)
        value = quantum(strategy.value(evidence))
        if picky and state.queues.refuses(value):
            return b""
        lane = min(lane, strategy.lane(evidence))
        packed = texts(url, anchor, context)
        still = QUEUED, 0
        groups = strategy.group(url)
        unit = place.units.get(groups) or self._unit(place, groups)
        if lane < REJECTED:
            self._queues.add(unit, lane, value, number)
        else:
            state.reject(LOW_VALUE_REASON)
            still = ERROR, LOW_VALUE
            packed += LOW_VALUE_REASON.encode()
        count = len(evidence)
        head: bytes = FRESH[count].pack(
            *still, 0, 0, 0, depth, unit.host.id, unit.uid, number, 0.0, 0.0, parent,
            lane, 1, count, 1, value, strategy.version, parent, value, *evidence,
        )  # fmt: skip
        return head + packed

    def _unit(self, place: Place, groups: tuple[str, ...]) -> Unit:
        unit, new = self._state.places.unit(place, groups)
        if new:
            self._state.biases.update(unit)
        return unit

    def _settle_in(self, row: Row, key: bytes, place: Place, url: str) -> None:
        """Give a new row its unit, queue it or put it into the errorQueue, and keep it."""
        state = self._state
        unit = self._unit(place, self._strategy.group(url))
        row.host, row.unit = unit.host.id, unit.uid
        state.tally["known"] += 1
        if row.lane < REJECTED:
            state.queues.enter(row, key)
        else:
            row.flags |= LOW_VALUE
            state.fail(row, LOW_VALUE_REASON)
        state.add(key, row)

    def _again(self, data: bytes, key: bytes, parent: bytes, offer: Offer) -> bytes:
        """A known row after one more page linked to it."""
        strategy = self._strategy
        plain, host, unit, number, lane, parents, count, inlinks, value, version = (
            LINKED.unpack_from(data)
        )
        if plain != PLAIN or not count or version != strategy.version or key in self._held:
            return self._known(data, key, parent, offer)
        _, to, contribution, anchor, context = offer
        end = HEAD_BYTES + (parents << 4)
        fold, value_of = strategy.fold, strategy.value
        kept, best = with_parent(
            data[HEAD_BYTES:end], parent, quantum(value_of(fold((), contribution)))
        )
        evidence = fold(FLOATS[count].unpack_from(data, end), contribution)
        new = quantum(value_of(evidence))
        to = min(lane, to, strategy.lane(evidence))
        if new != value or to != lane:
            queue = self._hosts[host].units[unit]
            self._queues.move(queue, number, (lane, value), (to, new))
        packed = data[end + 4 * count :]
        if best:
            packed = with_evidence_texts(packed, anchor, context)
        parents, count = len(kept) >> 4, len(evidence)
        moved: bytes = MOVED[parents][count].pack(
            to, parents, count, inlinks + 1, new, version, kept, *evidence
        )
        return data[:MOVING_AT] + moved + packed

    def _known(self, data: bytes, key: bytes, parent: bytes, offer: Offer) -> bytes:
        """The same for any row: leased, waiting, pinned, of another version, settled."""
        if not may_move(data):
            return counted(data)
        strategy = self._strategy
        row = decode(data)
        row.inlinks += 1
        self._judge.refresh(row)
        _, lane, evidence, anchor, context = offer
        fresh = strategy.fold((), evidence)
        offered = quantum(strategy.value(fresh))
        row.parents, best = with_parent(row.parents, parent, offered)
        if best:
            row.texts = with_evidence_texts(row.texts, anchor, context)
        row.evidence = strategy.fold(row.evidence, evidence) if row.evidence else fresh
        lane, value = self._judge.standing(row, lane)
        if lane != row.lane or value != row.value:
            self._state.move(row, key, lane, value)
        return row.encode()
