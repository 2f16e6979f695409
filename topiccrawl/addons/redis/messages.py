"""Link ingest of a shared frontier: URLs of another node's hosts are sent to that node."""

from __future__ import annotations

from collections import defaultdict
from struct import error as StructError  # noqa: N812 - an exception
from typing import TYPE_CHECKING, Any, NamedTuple

import msgpack

from topiccrawl.addons.redis.buckets import BUCKETS, bucket_of_url
from topiccrawl.frontier.contract import Ending, Outcome, Seed
from topiccrawl.frontier.rows import CRAWLED, ERROR, KEY_BYTES, QUEUED, REASON, decode, key_of
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topiccrawl.frontier.ingest import LinkIngest
    from topiccrawl.frontier.rows import Row, Urls

LINKS, SEED, REDIRECT = range(3)
_LARGEST = 1e30
"""Of a number of evidence; the rows have four bytes for it."""


class Route:
    """Buckets that are served here, and the outbox for the others.

    Attributes:
        mine: By bucket, whether its URLs are taken in here.
        whole: Whether all buckets are served here.
        letters: Bucket to messages (msgpack) not sent yet.
    """

    def __init__(self) -> None:
        self.mine = [False] * BUCKETS
        self.whole = False
        self.letters: defaultdict[int, list[bytes]] = defaultdict(list)

    def serve(self, bucket: int, *, mine: bool) -> None:
        """Set whether a bucket's URLs are taken in here or sent to another node."""
        self.mine[bucket] = mine
        self.whole = all(self.mine)

    def post(self, bucket: int, *parts: object) -> None:
        """Put a message for the node that serves a bucket into the outbox."""
        self.letters[bucket].append(msgpack.packb(parts, unicode_errors="surrogatepass"))


class Outpost:
    """Sends URLs of hosts that other nodes serve, and takes in the messages of those nodes.

    Args:
        ingest: This node's link ingest.
        urls: This node's URLs.
        route: Buckets that are served here, and the outbox.
        evidence: Numbers of evidence of an offer.
    """

    def __init__(self, ingest: LinkIngest, urls: Urls, route: Route, evidence: int) -> None:
        self._ingest, self._urls, self._route = ingest, urls, route
        self._evidence = evidence

    def links(self, parent: Row, key: bytes, offers: Sequence[Offer]) -> tuple[list[Offer], int]:
        """Return a page's offers that are served here, and the number of others that were sent.

        Only links that were not counted for this page before are sent. They are recorded with the
        page, so a page that is fetched again sends nothing twice.
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
            self._route.post(bucket, LINKS, key, parent.depth + 1, fresh)
        if len(before) > known:
            self._urls.put_links(key, b"".join(before))
        return here, len(before) - known

    def seed(self, seed: Seed) -> bool:
        """Send a seed of another node's host; return whether it was one."""
        bucket = bucket_of_url(seed.url)
        if self._route.mine[bucket]:
            return False
        self._route.post(bucket, SEED, seed.url, seed.value, seed.payload, seed.depth)
        return True

    def redirected(self, source: Row, source_key: bytes, outcome: Outcome) -> bool:
        """Send a redirect to another node's host; return whether it was one."""
        bucket = bucket_of_url(outcome.target)
        if self._route.mine[bucket]:
            return False
        moved = (outcome.target, outcome.redirects, outcome.payload)
        self._route.post(bucket, REDIRECT, source_key, source.encode(), *moved)
        return True

    def receive(self, letter: bytes) -> None:
        """Take in a message of another node.

        Raises:
            ValueError: No node wrote it.
        """
        read = read_letter(letter, self._evidence)
        if isinstance(read, Links):
            self._ingest.admit(read.offers, read.page, read.depth, set())
        elif isinstance(read, Seed):
            self._ingest.seed(read)
        else:
            self._ingest.redirected(read.source, read.page, read.outcome)


class Links(NamedTuple):
    """Links of a page: its key, their depth, and they."""

    page: bytes
    depth: int
    offers: list[Offer]


class Redirect(NamedTuple):
    """Redirect of a page: its key, its row, and the outcome."""

    page: bytes
    source: Row
    outcome: Outcome


def read_letter(letter: bytes, evidence: int = 1) -> Links | Seed | Redirect:
    """Return the content of a message, checked: what has access to Redis may have put it there.

    Args:
        letter: The message, msgpack.
        evidence: Numbers of evidence of an offer.

    Raises:
        ValueError: No node wrote it.
    """
    try:
        kind, *rest = msgpack.unpackb(letter, unicode_errors="surrogatepass")
        return _READ[kind](*rest, evidence)
    except (msgpack.UnpackException, ValueError, TypeError, KeyError, IndexError, StructError) as e:
        raise ValueError(f"no message of a node: {e!r:.200}") from e


def _links(page: bytes, depth: int, offers: list[list[Any]], evidence: int) -> Links:
    _check(_is_key(page), _is_count(depth, 65_536))
    return Links(page, depth, [_offer(evidence, *offer) for offer in offers])


def _offer(
    most: int, url: str, lane: int, evidence: list[float], anchor: str, context: str
) -> Offer:
    _check(_is_page(url), _is_count(lane, 2), isinstance(anchor, str), isinstance(context, str))
    _check(len(evidence) in {0, most}, all(abs(number) <= _LARGEST for number in evidence))
    return Offer(url, lane, tuple(evidence), anchor, context)


def _seed(url: str, value: float, payload: str, depth: int, _: int) -> Seed:
    _check(_is_page(url), 0 <= value <= 1, isinstance(payload, str), _is_count(depth, 65_535))
    return Seed(url, value, payload, depth)


def _redirect(
    page: bytes, source: bytes, target: str, redirects: int, payload: str | None, _: int
) -> Redirect:
    _check(_is_key(page), _is_page(target), _is_count(redirects, 65_535))
    _check(payload is None or isinstance(payload, str))
    row = decode(source)
    _check(
        row.state in {QUEUED, CRAWLED, ERROR}, row.texts.count(0) == REASON, row.lane in range(3)
    )
    row.texts.decode()
    outcome = Outcome(Ending.REDIRECTED, target=target, redirects=redirects, payload=payload)
    return Redirect(page, row, outcome)


_READ: dict[int, Callable[..., Links | Seed | Redirect]] = {
    LINKS: _links,
    SEED: _seed,
    REDIRECT: _redirect,
}


def _check(*held: bool) -> None:
    if not all(held):
        raise ValueError("a field is of another type or range")


def _is_key(value: object) -> bool:
    return isinstance(value, bytes) and len(value) == KEY_BYTES


def _is_count(value: object, most: int) -> bool:
    return type(value) is int and 0 <= value <= most


def _is_page(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://"))
