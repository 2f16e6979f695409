"""Messages between nodes: links, seeds and redirects to hosts that another node serves."""

from __future__ import annotations

from collections import defaultdict
from struct import error as StructError  # noqa: N812 - an exception
from typing import TYPE_CHECKING, Any

import msgpack

from topiccrawl.addons.redis.buckets import BUCKETS, bucket_of_url
from topiccrawl.frontier.contract import Ending, Outcome, Seed
from topiccrawl.frontier.rows import CRAWLED, ERROR, KEY_BYTES, QUEUED, REASON, decode, key_of
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topiccrawl.frontier.ingest import LinkIngest
    from topiccrawl.frontier.rows import Row, Urls

    Effect = Callable[[LinkIngest], object]
    """Function that applies a message to the link ingest of this node."""

LINKS, SEED, REDIRECT = range(3)
_LARGEST = 1e30
"""Largest absolute value of an evidence number; rows store it in four bytes."""


class Route:
    """Buckets served by this node, and the outbox of messages for the other buckets.

    Attributes:
        mine: By bucket, whether its URLs are stored by this node.
        whole: Whether all buckets are served by this node.
        outbox: Bucket to messages (msgpack) that were not sent yet.
    """

    def __init__(self) -> None:
        self.mine = [False] * BUCKETS
        self.whole = False
        self.outbox: defaultdict[int, list[bytes]] = defaultdict(list)

    def serve(self, bucket: int, *, mine: bool) -> None:
        """Set whether the URLs of a bucket are stored by this node or sent to another one."""
        self.mine[bucket] = mine
        self.whole = all(self.mine)

    def send(self, bucket: int, *parts: object) -> None:
        """Add a message for the node of a bucket to the outbox."""
        self.outbox[bucket].append(msgpack.packb(parts, unicode_errors="surrogatepass"))


class NodeForwarder:
    """Forward URLs to the nodes that serve their hosts, and apply the messages of other nodes.

    Args:
        ingest: Link ingest of this node.
        urls: URLs of this node.
        route: Buckets served by this node, and the outbox.
        evidence: Number of evidence values of an offer.
    """

    def __init__(self, ingest: LinkIngest, urls: Urls, route: Route, evidence: int) -> None:
        self._ingest, self._urls, self._route = ingest, urls, route
        self._evidence = evidence

    def send(self, parent: Row, key: bytes, offers: Sequence[Offer]) -> tuple[list[Offer], int]:
        """Return the offers of a page to hosts of this node, and the number of forwarded offers.

        Only links that were not counted for this page before are sent. They are recorded with the
        page, so that a page that is fetched again sends no link twice.
        """
        if self._route.whole:
            return list(offers), 0
        here: list[Offer] = []
        away: defaultdict[int, list[tuple[object, ...]]] = defaultdict(list)
        before = dict.fromkeys(self._urls.links(key))
        known = len(before)
        for offer in offers:
            bucket = bucket_of_url(offer.url)
            if self._route.mine[bucket]:
                here.append(offer)
            elif (child := key_of(offer.url)) not in before:
                before[child] = None
                away[bucket].append(tuple(offer))
        for bucket, fresh in away.items():
            self._route.send(bucket, LINKS, key, parent.depth + 1, fresh)
        if len(before) > known:
            self._urls.put_links(key, b"".join(before))
        return here, len(before) - known

    def send_seed(self, seed: Seed) -> bool:
        """Forward a seed if its host is served by another node; return whether it was sent."""
        parts = (seed.url, seed.value, seed.payload, seed.depth)
        return self._send_away(seed.url, SEED, *parts)

    def send_redirect(self, source: Row, source_key: bytes, outcome: Outcome) -> bool:
        """Forward a redirect if another node serves its target; return whether it was sent."""
        parts = (outcome.target, outcome.redirects, outcome.payload)
        return self._send_away(outcome.target, REDIRECT, source_key, source.encode(), *parts)

    def _send_away(self, url: str, *parts: object) -> bool:
        """Send a message if another node serves the host of a URL; return whether it was sent."""
        bucket = bucket_of_url(url)
        if self._route.mine[bucket]:
            return False
        self._route.send(bucket, *parts)
        return True

    def receive(self, data: bytes) -> None:
        """Apply a message of another node.

        Raises:
            ValueError: If the message is invalid.
        """
        parse_message(data, self._evidence)(self._ingest)


def parse_message(data: bytes, evidence: int = 1) -> Effect:
    """Parse and validate a message; any process with access to Redis may have written it.

    Args:
        data: The message, msgpack.
        evidence: Number of evidence values of an offer.

    Returns:
        Function that applies the message.

    Raises:
        ValueError: If the message is invalid.
    """
    try:
        kind, *fields = msgpack.unpackb(data, unicode_errors="surrogatepass")
        return _PARSERS[kind](*fields, evidence)
    except (msgpack.UnpackException, ValueError, TypeError, KeyError, IndexError, StructError) as e:
        raise ValueError(f"not a valid message: {e!r:.200}") from e


def _links(page: bytes, depth: int, offers: list[list[Any]], evidence: int) -> Effect:
    _check(_is_key(page), _is_count(depth, 65_536))
    links = [_offer(evidence, *offer) for offer in offers]
    return lambda ingest: ingest.add_links(links, page, depth, set())


def _offer(
    most: int, url: str, lane: int, evidence: list[float], anchor: str, context: str
) -> Offer:
    _check(_is_page(url), _is_count(lane, 2), isinstance(anchor, str), isinstance(context, str))
    _check(len(evidence) in {0, most}, all(abs(number) <= _LARGEST for number in evidence))
    return Offer(url, lane, tuple(evidence), anchor, context)


def _seed(url: str, value: float, payload: str, depth: int, _: int) -> Effect:
    _check(_is_page(url), 0 <= value <= 1, isinstance(payload, str), _is_count(depth, 65_535))
    seed = Seed(url, value, payload, depth)
    return lambda ingest: ingest.seed(seed)


def _redirect(
    page: bytes, source: bytes, target: str, redirects: int, payload: str | None, _: int
) -> Effect:
    _check(_is_key(page), _is_page(target), _is_count(redirects, 65_535))
    _check(payload is None or isinstance(payload, str))
    row = decode(source)
    _check(
        row.state in {QUEUED, CRAWLED, ERROR}, row.texts.count(0) == REASON, row.lane in range(3)
    )
    row.texts.decode()
    outcome = Outcome(Ending.REDIRECTED, target=target, redirects=redirects, payload=payload)
    return lambda ingest: ingest.redirected(row, page, outcome)


_PARSERS: dict[int, Callable[..., Effect]] = {
    LINKS: _links,
    SEED: _seed,
    REDIRECT: _redirect,
}


def _check(*conditions: bool) -> None:
    if not all(conditions):
        raise ValueError("a field has a wrong type or range")


def _is_key(value: object) -> bool:
    return isinstance(value, bytes) and len(value) == KEY_BYTES


def _is_count(value: object, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _is_page(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://"))
