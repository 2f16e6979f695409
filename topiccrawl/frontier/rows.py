"""Keys of URLs, and the layout of a stored row: this is the only place that knows it.

    still 41 bytes | moving 15 bytes | best parents 16 each | evidence f32 each | texts

The texts are URL, anchor, context, payload and reason, UTF-8, parted by a zero byte. Rows are made
and read tens of thousands of times a second: what one more link changes stands together, so that
the rest is copied unread.
"""

from __future__ import annotations

from struct import Struct

from xxhash import xxh3_64_digest

KEY_BYTES = 12
"""A key is 4 bytes of its host and 8 of its URL: those of one host lie side by side."""
DEFAULT_PORTS = {"http": "80", "https": "443"}


def split_origin(url: str) -> tuple[str, str]:
    """Scheme with its colon, and network location, as they stand in the URL.

    >>> split_origin("http://News.cn:8080/a?b=/")
    ('http:', 'News.cn:8080')
    """
    scheme, _, rest = url.partition("//")
    for mark in "/?#":
        rest = rest.partition(mark)[0]
    return scheme, rest


def host_of(netloc: str) -> str:
    """Lower-case host name of a network location, without user and port.

    >>> host_of("u:p@News.CN:8080"), host_of("[::1]:80")
    ('news.cn', '[::1]')
    """
    place = netloc.rpartition("@")[2].lower()
    if place.startswith("["):
        return place.partition("]")[0] + "]"
    return place.partition(":")[0]


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL: what one robots.txt speaks for.

    >>> origin_of("https://News.cn:443/a"), origin_of("http://news.cn:8080/")
    ('https://news.cn', 'http://news.cn:8080')
    """
    scheme, netloc = split_origin(url)
    scheme = scheme.rstrip(":").lower()
    place = netloc.rpartition("@")[2].lower()
    host = host_of(netloc)
    port = place[len(host) :].lstrip(":")
    if port and port != DEFAULT_PORTS.get(scheme):
        return f"{scheme}://{host}:{port}"
    return f"{scheme}://{host}"


def host_digest(host: str) -> bytes:
    """The four bytes of a host name that begin the keys of its URLs."""
    return xxh3_64_digest(host.encode())[:4]


def key_of(url: str) -> bytes:
    """Key of a canonical URL, 12 bytes.

    >>> len(key_of("http://news.cn/"))
    12
    """
    return host_digest(host_of(split_origin(url)[1])) + xxh3_64_digest(url.encode())


QUEUED, CRAWLED, ERROR = 0, 1, 2
"""States of a row; a leased URL is QUEUED in its row and listed among the leases."""

PINNED, DELAYED, LOW_VALUE, REDIRECTED, COUNTED = 1, 2, 4, 8, 16
"""Flags: value was given, not computed; waits for a time; may be lifted; ended in a redirect; was
crawled, and counts in the statistics of its groups."""

LOW_VALUE_REASON = "low-value"

TOP = 0xFFFFFFFF
"""Stored values are whole numbers from 0 to TOP for 0.0 to 1.0."""

ANCHOR_CHARS, CONTEXT_CHARS = 80, 120
PARENTS = 3
STILL = Struct("<BBBBBHIHIfd12s")
MOVING = Struct("<BBBIII")
MOVING_AT = STILL.size
HEAD_BYTES = STILL.size + MOVING.size
PLACE_AT = 7
INLINKS = Struct("<I")
INLINKS_AT = MOVING_AT + 3
HEAD_FIELDS = {
    "state": ("u1", 0), "flags": ("u1", 1), "host": ("<u4", PLACE_AT),
    "unit": ("<u2", PLACE_AT + 4), "seq": ("<u4", PLACE_AT + 6), "lane": ("u1", MOVING_AT),
    "value": ("<u4", MOVING_AT + 7),
}  # fmt: skip
"""What the order of the queues is made of: names to numpy's types and where they begin."""
PARENT = Struct("<12sI")
NOBODY = bytes(12)
LINKED = Struct("<H5xIHI24xBBBIII")
"""What one more link wants to know: state with flags, place and arrival, what a link moves."""
PLAIN = QUEUED
"""State with flags of a row that is queued and nothing else."""
URL, ANCHOR, CONTEXT, PAYLOAD, REASON = range(5)
FRESH = tuple(Struct(f"{STILL.format}BBBIII12sI{n}f") for n in range(65))
"""A new row up to its texts, by numbers of evidence: one parent."""
MOVED = tuple(tuple(Struct(f"<BBBIII{16 * k}s{n}f") for n in range(65)) for k in range(4))
"""What a link moves, by numbers of parents and of evidence."""
FLOATS = tuple(Struct(f"<{n}f") for n in range(65))
_RANKS = tuple(Struct("<" + "12xI" * n) for n in range(PARENTS + 1))


def quantum(value: float) -> int:
    """Stored form of a value; what lies outside [0, 1] is cut.

    >>> quantum(0.0), quantum(1.0), quantum(7.0), quantum(float("nan"))
    (0, 4294967295, 4294967295, 0)
    """
    if 0.0 < value < 1.0:
        return int(value * TOP)
    return TOP if value >= 1.0 else 0


class Row:
    """All that is stored of one URL.

    Attributes:
        value: Quantum of the value, see ``quantum``.
        when: Not before (queued), or when it was settled; seconds since the epoch.
        version: Strategy version its value was made with.
        seq: Number of its arrival, from 1: equal values are served first come, first served.
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
            STILL.pack(
                self.state, self.flags, self.attempts, self.crashes, self.redirects, self.depth,
                self.host, self.unit, self.seq, self.relevance, self.when, self.first,
            )
            + MOVING.pack(
                self.lane, len(self.parents) >> 4, len(evidence), self.inlinks, self.value,
                self.version,
            )
            + self.parents
            + FLOATS[len(evidence)].pack(*evidence)
            + self.texts
        )  # fmt: skip

    def may_move(self) -> bool:
        """Whether it is queued, or in the errorQueue only for its low value."""
        return self.state == QUEUED or (self.state == ERROR and bool(self.flags & LOW_VALUE))

    def text(self, which: int) -> str:
        """One of URL, ANCHOR, CONTEXT, PAYLOAD, REASON."""
        return self.texts.split(b"\0")[which].decode()

    def set_text(self, which: int, text: str) -> None:
        """Replace one of the texts."""
        parts = self.texts.split(b"\0")
        parts[which] = text.replace("\0", " ").encode(errors="replace")
        self.texts = b"\0".join(parts)

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
        row.state, row.flags, row.attempts, row.crashes, row.redirects, row.depth, row.host,
        row.unit, row.seq, row.relevance, row.when, first,
    ) = STILL.unpack_from(data)  # fmt: skip
    row.lane, parents, count, row.inlinks, row.value, row.version = MOVING.unpack_from(
        data, MOVING_AT
    )
    end = HEAD_BYTES + (parents << 4)
    row.first = b"" if first == NOBODY else first
    row.parents = data[HEAD_BYTES:end]
    row.evidence = FLOATS[count].unpack_from(data, end)
    row.texts = data[end + 4 * count :]
    return row


def heir(source: Row, url: str, payload: str | None, seq: int) -> Row:
    """The new row of a URL that takes over what another was worth, and its payload but for None."""
    _, anchor, context, known, _ = source.texts.split(b"\0")
    given = known.decode() if payload is None else payload
    row = Row(texts(url, anchor.decode(), context.decode(), given), source.lane, source.value, seq)
    row.evidence, row.version = source.evidence, source.version
    row.flags = source.flags & PINNED
    row.depth = source.depth
    return row


def may_move(data: bytes) -> bool:
    """Whether a stored row is queued, or in the errorQueue only for its low value."""
    return data[0] == QUEUED or (data[0] == ERROR and bool(data[1] & LOW_VALUE))


def counted(data: bytes) -> bytes:
    """Stored bytes with one more in-link."""
    (inlinks,) = INLINKS.unpack_from(data, INLINKS_AT)
    return data[:INLINKS_AT] + INLINKS.pack(min(inlinks + 1, TOP)) + data[INLINKS_AT + 4 :]


def with_parent(parents: bytes, key: bytes, value: int) -> tuple[bytes, bool]:
    """Packed best parents after one more offered so much, and whether it offered most so far.

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


def texts(url: str, anchor: str = "", context: str = "", payload: str = "") -> bytes:
    """Packed texts of a new row; anchor and context are cut to what is kept for re-scoring."""
    joined = f"{url}\0{anchor[:ANCHOR_CHARS]}\0{context[:CONTEXT_CHARS]}\0{payload}\0"
    packed = joined.encode(errors="replace")
    if packed.count(0) != REASON:
        kept = (url, anchor[:ANCHOR_CHARS], context[:CONTEXT_CHARS], payload, "")
        joined = "\0".join([text.replace("\0", " ") for text in kept])
        packed = joined.encode(errors="replace")
    return packed


def with_evidence_texts(packed: bytes, anchor: str, context: str) -> bytes:
    """Packed texts with others kept for re-scoring.

    >>> with_evidence_texts(texts("http://a.cn/", "one", "two"), "甲", "") == texts(
    ...     "http://a.cn/", "甲")
    True
    """
    url, _, _, rest = packed.split(b"\0", 3)
    kept = f"\0{anchor[:ANCHOR_CHARS]}\0{context[:CONTEXT_CHARS]}\0".encode(errors="replace")
    if kept.count(0) != PAYLOAD:
        return url + texts("", anchor, context)[:-1] + rest
    return url + kept + rest
