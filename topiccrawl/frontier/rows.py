"""Rows of URLs: keys, stored layout (private to this module), and tables.

    static 41 bytes | link fields 15 bytes | best parents 16 each | evidence f32 each | texts

The texts are URL, anchor, context, payload and reason in UTF-8, separated by a zero byte. Rows are
packed and unpacked tens of thousands of times a second. The fields that a further link changes are
adjacent, so that all other bytes are copied without decoding.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, islice
from operator import attrgetter
from struct import Struct
from typing import TYPE_CHECKING

import numpy as np
from xxhash import xxh3_64_digest

from topiccrawl.links.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.frontier.store import Store

HOST_BYTES, KEY_BYTES = 4, 12


def host_digest(host: str) -> bytes:
    """Return the four bytes of a host name with which the keys of its URLs begin."""
    return xxh3_64_digest(host.encode())[:4]


def key_of(url: str) -> bytes:
    """Return the key of a canonical URL, 12 bytes.

    >>> len(key_of("http://news.cn/"))
    12
    """
    return host_digest(host_of(url)) + xxh3_64_digest(url.encode())


def split(packed: bytes) -> list[bytes]:
    """Return the keys in packed bytes."""
    return [packed[at : at + KEY_BYTES] for at in range(0, len(packed), KEY_BYTES)]


QUEUED, CRAWLED, ERROR = 0, 1, 2
"""States of a row; a leased URL is QUEUED in its row and listed among the leases."""
STATES = {"crawled": CRAWLED, "error": ERROR}
"""States of settled rows by the name of their queue."""

PINNED, DELAYED, LOW_VALUE, COUNTED = 1, 2, 4, 16
"""Flags: the value was given, not computed; waits for a time; may return to a lane; was crawled and
counts in the statistics of its groups. Flag 8 is unused."""

LOW_VALUE_REASON = "low-value"

TOP = 0xFFFFFFFF
"""Stored value of 1.0; stored values are integers from 0 to TOP."""

ANCHOR_CHARS, CONTEXT_CHARS = 80, 120
PARENTS = 3
STATIC = Struct("<BBBBBHIHIfd12s")
HEADER = Struct(f"{STATIC.format}BBBIII")
LINK_AT = STATIC.size
HEAD_BYTES = HEADER.size
INLINKS = Struct("<I")
INLINKS_AT = LINK_AT + 3
VERSION_AT = HEAD_BYTES - 4
HEAD = np.dtype({
    "names": ["state", "flags", "host", "unit", "seq", "lane", "value"],
    "formats": ["u1", "u1", "<u4", "<u2", "<u4", "u1", "<u4"],
    "offsets": [0, 1, 7, 11, 13, LINK_AT, LINK_AT + 7], "itemsize": HEAD_BYTES,
})  # fmt: skip
"""Numpy record type of the fields from which the order of the queues is built."""
PARENT = Struct("<12sI")
NO_KEY = bytes(12)
ARRIVAL = Struct(">I")
BATCH = 500
LINK_READ = Struct("<H5xIHI24xBBBIII")
"""Fields read for a further link: state with flags (0 if the row is queued and nothing else), host,
unit, number, and link fields."""
URL, ANCHOR, CONTEXT, PAYLOAD, REASON = range(5)
NEW_ROW = tuple(Struct(f"{HEADER.format}12sI{n}f") for n in range(65))
"""Formats of a new row with one parent up to its texts, by number of evidence fields."""
LINK_WRITE = tuple(tuple(Struct(f"<BBBIII{16 * k}s{n}f") for n in range(65)) for k in range(4))
"""Formats of the fields that a link changes, by numbers of parents and evidence fields."""
FLOATS = tuple(Struct(f"<{n}f") for n in range(65))
_RANKS = tuple(Struct("<" + "12xI" * n) for n in range(PARENTS + 1))


def quantum(value: float) -> int:
    """Return the stored form of a value; values outside [0, 1] are clipped.

    >>> quantum(0.0), quantum(1.0), quantum(7.0), quantum(float("nan"))
    (0, 4294967295, 4294967295, 0)
    """
    if 0.0 < value < 1.0:
        return int(value * TOP)
    return TOP if value >= 1.0 else 0


@dataclass(slots=True, eq=False)
class Row:
    """Stored record of one URL.

    Attributes:
        host: Number of the host.
        unit: Number of the queue unit inside the host.
        seq: Arrival number, from 1: equal values are served first come, first served.
        when: Earliest fetch (queued) or time of settlement; seconds since the epoch.
        first: Key of the page where the URL was found first, or NO_KEY.
        value: Quantum of the value, see ``quantum``.
        version: Strategy version of the value.
        parents: Up to three packed (key, quantum of that parent's offer).
        texts: URL, anchor, context, payload and reason as bytes separated by zero bytes.
    """

    state: int = QUEUED
    flags: int = 0
    attempts: int = 0
    crashes: int = 0
    redirects: int = 0
    depth: int = 0
    host: int = 0
    unit: int = 0
    seq: int = 0
    relevance: float = 0.0
    when: float = 0.0
    first: bytes = NO_KEY
    lane: int = 0
    inlinks: int = 0
    value: int = 0
    version: int = 0
    parents: bytes = b""
    evidence: tuple[float, ...] = ()
    texts: bytes = b""

    def encode(self) -> bytes:
        """Return the stored bytes."""
        *static, lane, inlinks, value, version, parents, evidence, texts = _FIELDS(self)
        count = len(evidence)
        head = HEADER.pack(*static, lane, len(parents) >> 4, count, inlinks, value, version)
        return b"".join((head, parents, FLOATS[count].pack(*evidence), texts))

    def text(self, which: int) -> str:
        """Return one of URL, ANCHOR, CONTEXT, PAYLOAD, REASON."""
        return self.texts.split(b"\0")[which].decode()

    def set_text(self, which: int, text: str) -> None:
        """Replace one of the texts."""
        parts = self.texts.split(b"\0")
        parts[which] = _packed(text)
        self.texts = b"\0".join(parts)

    def settle(self, state: int, reason: str, now: float) -> None:
        """Set the state of a page that was crawled or failed."""
        self.state, self.when = state, now
        self.flags &= ~DELAYED
        self.set_text(REASON, reason)

    def unsettle(self) -> None:
        """Set the state of a URL that is queued by its value, after it was settled or delayed."""
        self.state = QUEUED
        self.flags &= ~(DELAYED | LOW_VALUE)
        self.set_text(REASON, "")

    def best_parents(self) -> list[tuple[bytes, int]]:
        """Return the stored parents, (key, quantum), best first."""
        return sorted(PARENT.iter_unpack(self.parents), key=lambda parent: -parent[1])


_FIELDS = attrgetter(*Row.__slots__)


def decode(data: bytes) -> Row:
    """Return the row of stored bytes.

    >>> row = Row(texts=texts("http://a.cn/", "甲"), lane=1, value=quantum(0.5), seq=7)
    >>> decode(row.encode()).text(ANCHOR), decode(row.encode()).seq
    ('甲', 7)
    """
    *static, lane, parents, count, inlinks, value, version = HEADER.unpack_from(data)
    end = HEAD_BYTES + (parents << 4)
    evidence = FLOATS[count].unpack_from(data, end)
    body = data[HEAD_BYTES:end], evidence, data[end + 4 * count :]
    return Row(*(*static, lane, inlinks, value, version, *body))


def version_of(data: bytes) -> int:
    """Return the strategy version of stored bytes."""
    return int.from_bytes(data[VERSION_AT:HEAD_BYTES], "little")


def scored_fields(data: bytes) -> tuple[tuple[float, ...], str, str]:
    """Return evidence, anchor and context of stored bytes.

    >>> row = Row(evidence=(0.5,), texts=texts("http://a.cn/", "甲", "乙"))
    >>> scored_fields(row.encode())
    ((0.5,), '甲', '乙')
    """
    parents, count = data[LINK_AT + 1 : LINK_AT + 3]
    end = HEAD_BYTES + (parents << 4)
    _, anchor, context, _ = data[end + 4 * count :].split(b"\0", 3)
    return FLOATS[count].unpack_from(data, end), anchor.decode(), context.decode()


def is_movable(state: int, flags: int) -> bool:
    """Check whether a row is queued, or in the errorQueue only for its low value.

    A stored row begins with its state and its flags.
    """
    return state == QUEUED or (state == ERROR and bool(flags & LOW_VALUE))


def with_inlink(data: bytes) -> bytes:
    """Return stored bytes with one more in-link."""
    (inlinks,) = INLINKS.unpack_from(data, INLINKS_AT)
    return data[:INLINKS_AT] + INLINKS.pack(min(inlinks + 1, TOP)) + data[INLINKS_AT + 4 :]


def with_parent(parents: bytes, key: bytes, value: int) -> tuple[bytes, bool]:
    """Return packed best parents after a further offer, and whether that offer is the best.

    >>> one, two = bytes(12), bytes(range(12))
    >>> first = PARENT.pack(one, 7)
    >>> with_parent(first, two, 8) == (first + PARENT.pack(two, 8), True)
    True
    """
    count = len(parents) >> 4
    ranks = _RANKS[count].unpack(parents)
    if count < PARENTS:
        return parents + PARENT.pack(key, value), not count or value > max(ranks)
    worst = min(ranks)
    if value <= worst:
        return parents, False
    at = ranks.index(worst) << 4
    return parents[:at] + PARENT.pack(key, value) + parents[at + 16 :], value > max(ranks)


def texts(
    url: str, anchor: str = "", context: str = "", payload: str = "", reason: str = ""
) -> bytes:
    """Return packed texts of a new row; anchor and context are cut to the stored lengths."""
    return _packed(url, anchor[:ANCHOR_CHARS], context[:CONTEXT_CHARS], payload, reason)


def _packed(*texts: str) -> bytes:
    """Return texts in their stored form, one after the other."""
    return "\0".join([text.replace("\0", " ") for text in texts]).encode(errors="replace")


def with_evidence_texts(packed: bytes, anchor: str, context: str) -> bytes:
    """Return packed texts with anchor and context replaced.

    >>> with_evidence_texts(texts("http://a.cn/", "one", "two"), "甲", "") == texts(
    ...     "http://a.cn/", "甲")
    True
    """
    url, _, _, rest = packed.split(b"\0", 3)
    new = _packed(anchor[:ANCHOR_CHARS], context[:CONTEXT_CHARS])
    return b"\0".join((url, new, rest))


class Urls:
    """Records of URLs: rows by key, keys by arrival number, links by key of the page.

    Rows of one host are adjacent.

    Args:
        store: Store of the records.

    Attributes:
        seq: Next arrival number.
        known: Number of recorded URLs.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.seq = 1
        self.known = store.size("urls")

    def next_seq(self, seq: int = 0) -> int:
        """Return the arrival number of a new URL: ``seq`` if given and free, else the next."""
        if not 0 < seq <= TOP or self.key_of_number(seq):
            seq = self.seq
        self.seq = max(self.seq, seq + 1)
        return seq

    def key_of_number(self, number: int) -> bytes | None:
        """Return the key of an arrival number, or None."""
        return self.store.get("arrivals", ARRIVAL.pack(number))

    def row(self, key: bytes) -> Row | None:
        """Return the row of a key, or None."""
        data = self.store.get("urls", key)
        return decode(data) if data else None

    def put(self, key: bytes, row: Row) -> None:
        """Store a changed row."""
        self.store.put("urls", key, row.encode())

    def add(self, key: bytes, row: Row) -> None:
        """Store a new row."""
        self.known += 1
        self.store.put("arrivals", ARRIVAL.pack(row.seq), key)
        self.put(key, row)

    def put_many(self, rows: dict[bytes, bytes], new: Sequence[bytes]) -> None:
        """Store rows by key; the keys in ``new`` get the next arrival numbers."""
        self.store.put_many("urls", rows)
        numbers = map(ARRIVAL.pack, count(self.seq))
        self.store.put_many("arrivals", dict(zip(numbers, new, strict=False)))
        self.seq += len(new)
        self.known += len(new)

    def links(self, key: bytes) -> list[bytes]:
        """Return the keys of a page's counted links, including those of a forgotten page."""
        return split(self.store.get("links", key) or b"")

    def put_links(self, key: bytes, packed: bytes | None) -> None:
        """Replace the links of a page; None deletes them."""
        self.store.put("links", key, packed)

    def delete(self, key: bytes, number: int) -> None:
        """Delete the record of a URL."""
        self.known -= 1
        self.store.put("arrivals", ARRIVAL.pack(number), None)
        self.store.put("urls", key, None)

    def delete_prefix(self, prefix: bytes) -> None:
        """Delete all URLs with a key prefix and their links."""
        for key, data in self.store.items("urls", prefix):
            self.delete(key, decode(data).seq)
        for key, _ in self.store.items("links", prefix):
            self.put_links(key, None)

    def in_order(self, number: int = 0, size: int = BATCH) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield URLs after an arrival number: number, key, row; concurrent arrivals come last."""
        after = ARRIVAL.pack(number) if number else b""
        arrivals = self.store.items("arrivals", after=after, size=size)
        while batch := list(islice(arrivals, size)):
            stored = self.store.get_many("urls", [key for _, key in batch])
            for packed, key in batch:
                if key in stored:
                    yield ARRIVAL.unpack(packed)[0], key, stored[key]
