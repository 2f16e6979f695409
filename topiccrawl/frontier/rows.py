"""What is stored of one URL: a fixed head, parents, evidence, and the texts.

    head 49 bytes | first parent 12 (if any) | best parents 16 each | evidence f32 each | texts

The texts are URL, anchor, context, payload and reason, UTF-8, parted by a zero byte. A row is made
and read tens of thousands of times a second: slots, one ``struct`` call, texts decoded on demand.
"""

from __future__ import annotations

from struct import Struct

QUEUED, CRAWLED, ERROR = 0, 1, 2
"""States of a row; a leased URL is QUEUED in its row and listed among the leases."""

PINNED, DELAYED, LOW_VALUE, REDIRECTED = 1, 2, 4, 8
"""Flags: value was given, not computed; waits for a time; may be lifted; ended in a redirect."""

TOP = 0xFFFFFFFF
"""Stored values are whole numbers from 0 to TOP for 0.0 to 1.0."""

ANCHOR_CHARS, CONTEXT_CHARS = 80, 120
PARENTS = 3
HEAD = Struct("<BBBBBBHIIfdIQIHBBB")
INLINKS = Struct("<I")
INLINKS_AT = 8
PARENT = Struct("<12sI")
URL, ANCHOR, CONTEXT, PAYLOAD, REASON = range(5)
_RANKS = tuple(Struct("<" + "12xI" * n) for n in range(PARENTS + 1))
_FLOATS = tuple(Struct(f"<{n}f") for n in range(65))


def quantum(value: float) -> int:
    """Stored form of a value; what lies outside [0, 1] is cut.

    >>> quantum(0.0), quantum(1.0), quantum(7.0), quantum(float("nan"))
    (0, 4294967295, 4294967295, 0)
    """
    if value >= 1.0:
        return TOP
    return int(value * TOP) if value > 0.0 else 0


class Row:
    """All that is stored of one URL.

    Attributes:
        value: Quantum of the value, see ``quantum``.
        when: Not before (queued), or when it was settled; seconds since the epoch.
        version: Strategy version its value was made with.
        seq: Place in the order of arrival: equal values are served first come, first served.
        host: Number of the host.
        unit: Number of the queue unit inside the host.
        first: Key of the page where it was found first, or b"".
        parents: Up to three packed (key, quantum of that parent's offer).
        texts: URL, anchor, context, payload, reason as bytes parted by zero bytes.
    """

    __slots__ = (
        "attempts", "crashes", "depth", "evidence", "first", "flags", "host", "inlinks", "lane",
        "parents", "redirects", "relevance", "seq", "state", "texts", "unit", "value", "version",
        "when",
    )  # fmt: skip

    def __init__(self, texts: bytes, lane: int, value: int, seq: int) -> None:
        self.state = QUEUED
        self.lane = lane
        self.flags = self.attempts = self.crashes = self.redirects = self.depth = self.inlinks = 0
        self.value = value
        self.relevance = self.when = 0.0
        self.version = 0
        self.seq = seq
        self.host = self.unit = 0
        self.first = self.parents = b""
        self.evidence: tuple[float, ...] = ()
        self.texts = texts

    def encode(self) -> bytes:
        """The stored bytes."""
        evidence = self.evidence
        return (
            HEAD.pack(
                self.state, self.lane, self.flags, self.attempts, self.crashes, self.redirects,
                self.depth, self.inlinks, self.value, self.relevance, self.when, self.version,
                self.seq, self.host, self.unit, len(self.first), len(self.parents) >> 4,
                len(evidence),
            )
            + self.first
            + self.parents
            + _FLOATS[len(evidence)].pack(*evidence)
            + self.texts
        )  # fmt: skip

    def text(self, which: int) -> str:
        """One of URL, ANCHOR, CONTEXT, PAYLOAD, REASON."""
        return self.texts.split(b"\0")[which].decode()

    def set_text(self, which: int, text: str) -> None:
        """Replace one of the texts."""
        parts = self.texts.split(b"\0")
        parts[which] = text.replace("\0", " ").encode(errors="replace")
        self.texts = b"\0".join(parts)

    def keep_texts(self, anchor: str, context: str) -> None:
        """Replace the texts kept for re-scoring."""
        parts = self.texts.split(b"\0")
        _, parts[ANCHOR], parts[CONTEXT], _, _ = texts("", anchor, context).split(b"\0")
        self.texts = b"\0".join(parts)

    def add_parent(self, key: bytes, value: int) -> bool:
        """Keep a parent if it is among the best; True if it is the best one so far."""
        parents = self.parents
        if not parents:
            self.parents = PARENT.pack(key, value)
            return True
        ranks = _RANKS[len(parents) >> 4].unpack(parents)
        if len(ranks) < PARENTS:
            self.parents = parents + PARENT.pack(key, value)
        elif value > (worst := min(ranks)):
            at = ranks.index(worst) << 4
            self.parents = parents[:at] + PARENT.pack(key, value) + parents[at + 16 :]
        else:
            return False
        return value > int(max(ranks))

    def best_parents(self) -> list[tuple[bytes, int]]:
        """Kept parents, (key, quantum), best first."""
        return sorted(PARENT.iter_unpack(self.parents), key=lambda parent: -parent[1])


def decode(data: bytes) -> Row:
    """The row in stored bytes.

    >>> row = Row(texts("http://a.cn/", "甲"), 1, quantum(0.5), 7)
    >>> decode(row.encode()).text(ANCHOR), decode(row.encode()).seq
    ('甲', 7)
    """
    row = Row.__new__(Row)
    (
        row.state, row.lane, row.flags, row.attempts, row.crashes, row.redirects, row.depth,
        row.inlinks, row.value, row.relevance, row.when, row.version, row.seq, row.host, row.unit,
        first, parents, count,
    ) = HEAD.unpack_from(data)  # fmt: skip
    at = HEAD.size
    row.first = data[at : at + first]
    at += first
    end = at + (parents << 4)
    row.parents = data[at:end]
    row.evidence = _FLOATS[count].unpack_from(data, end)
    row.texts = data[end + 4 * count :]
    return row


def counted(data: bytes) -> bytes:
    """Stored bytes with one more in-link."""
    (inlinks,) = INLINKS.unpack_from(data, INLINKS_AT)
    return data[:INLINKS_AT] + INLINKS.pack(min(inlinks + 1, TOP)) + data[INLINKS_AT + 4 :]


def texts(url: str, anchor: str = "", context: str = "", payload: str = "") -> bytes:
    """Packed texts of a new row; anchor and context are cut to what is kept for re-scoring."""
    joined = f"{url}\0{anchor[:ANCHOR_CHARS]}\0{context[:CONTEXT_CHARS]}\0{payload}\0"
    if joined.count("\0") != REASON:
        kept = (url, anchor[:ANCHOR_CHARS], context[:CONTEXT_CHARS], payload, "")
        joined = "\0".join([text.replace("\0", " ") for text in kept])
    return joined.encode(errors="replace")
