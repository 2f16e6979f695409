"""Link ingest of a shared frontier: URLs of another node's hosts are sent to that node."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgpack

from topiccrawl.addons.redis.buckets import BUCKETS, bucket_of_url
from topiccrawl.frontier.contract import Ending, Outcome, Seed
from topiccrawl.frontier.rows import decode, key_of
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.frontier.ingest import LinkIngest
    from topiccrawl.frontier.rows import Row, Urls

LINKS, SEED, REDIRECT = range(3)


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
    """

    def __init__(self, ingest: LinkIngest, urls: Urls, route: Route) -> None:
        self._ingest, self._urls, self._route = ingest, urls, route

    def links(self, parent: Row, key: bytes, offers: Sequence[Offer]) -> tuple[list[Offer], int]:
        """Return a page's offers that are served here, and the number of others that were sent.

        Only links that were not counted for this page before are sent. They are recorded with the
        page, so a page that is fetched again sends nothing twice.
        """
        if self._route.whole:
            return list(offers), 0
        here: list[Offer] = []
        away: defaultdict[int, list[tuple[object, ...]]] = defaultdict(list)
        before = self._ingest.counted(key)
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
        """Take in a message of another node."""
        kind, *rest = msgpack.unpackb(letter, unicode_errors="surrogatepass")
        if kind == LINKS:
            key, depth, offers = rest
            found = [
                Offer(url, lane, tuple(evidence), anchor, context)
                for url, lane, evidence, anchor, context in offers
            ]
            self._ingest.admit(found, key, depth, set())
        elif kind == SEED:
            self._ingest.seed(Seed(*rest))
        else:
            key, source, target, redirects, payload = rest
            outcome = Outcome(
                Ending.REDIRECTED, target=target, redirects=redirects, payload=payload
            )
            self._ingest.redirected(decode(source), key, outcome)
