"""The way into a shared frontier: what belongs to another node's hosts is posted to it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgpack
from typing_extensions import override

from topiccrawl.addons.redis.buckets import BUCKETS, bucket_of_url
from topiccrawl.frontier.contract import Ending, Outcome, Seed
from topiccrawl.frontier.keys import key_of
from topiccrawl.frontier.offers import Intake
from topiccrawl.frontier.rows import decode
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.frontier.rows import Row

LINKS, SEED, REDIRECT = range(3)


class Route:
    """Which buckets are served here, and letters for the others.

    Attributes:
        mine: By bucket, whether its URLs are taken in here.
        whole: Whether all are.
        letters: Bucket to letters (msgpack) not sent yet.
    """

    def __init__(self) -> None:
        self.mine = [False] * BUCKETS
        self.whole = False
        self.letters: defaultdict[int, list[bytes]] = defaultdict(list)

    def serve(self, bucket: int, *, mine: bool) -> None:
        """Take a bucket's URLs in here, or post them."""
        self.mine[bucket] = mine
        self.whole = all(self.mine)

    def post(self, bucket: int, *parts: object) -> None:
        """Keep a letter for whoever serves a bucket."""
        self.letters[bucket].append(msgpack.packb(parts, unicode_errors="surrogatepass"))


class RoutedIntake(Intake):
    """An intake that knows its own hosts from others'."""

    route: Route

    @override
    def links(self, parent: Row, parent_key: bytes, offers: Sequence[Offer]) -> int:
        """Count a page's links that were not counted before; queue what is new, or post it."""
        if self.route.whole:
            return super().links(parent, parent_key, offers)
        here: list[Offer] = []
        away: defaultdict[int, list[Offer]] = defaultdict(list)
        for offer in offers:
            bucket = bucket_of_url(offer.url)
            (here if self.route.mine[bucket] else away[bucket]).append(offer)
        return super().links(parent, parent_key, here) + self._post(parent, parent_key, away)

    @override
    def seed(self, seed: Seed) -> bool:
        """Queue a URL in priorQueue; False where it is known. One that is posted counts as new."""
        bucket = bucket_of_url(seed.url)
        if self.route.mine[bucket]:
            return super().seed(seed)
        self.route.post(bucket, SEED, seed.url, seed.value, seed.payload, seed.depth)
        return True

    @override
    def redirected(self, source: Row, source_key: bytes, outcome: Outcome) -> None:
        """Let the target of a redirect take over what its source was worth."""
        bucket = bucket_of_url(outcome.target)
        if self.route.mine[bucket]:
            super().redirected(source, source_key, outcome)
        else:
            moved = (outcome.target, outcome.redirects, outcome.payload)
            self.route.post(bucket, REDIRECT, source_key, source.encode(), *moved)

    def receive(self, letter: bytes) -> None:
        """Take in what another node posted."""
        kind, *rest = msgpack.unpackb(letter, unicode_errors="surrogatepass")
        _RECEIVE[kind](self, *rest)

    def _post(self, parent: Row, parent_key: bytes, away: dict[int, list[Offer]]) -> int:
        """Post links that this page was not counted for before; how many.

        That they were counted is kept with the page, so a page fetched again posts nothing twice.
        """
        before = self._counted(parent_key, parent.seq)
        known = len(before)
        for bucket, offers in away.items():
            fresh = []
            for offer in offers:
                key = key_of(offer.url)
                if key not in before:
                    before[key] = None
                    fresh.append(tuple(offer))
            if fresh:
                self.route.post(bucket, LINKS, parent_key, parent.depth + 1, fresh)
        if len(before) > known:
            self._urls.put_links(parent.seq, b"".join(before))
        return len(before) - known

    def _links(self, parent_key: bytes, depth: int, offers: list[Any]) -> None:
        found = [
            Offer(url, lane, tuple(evidence), anchor, context)
            for url, lane, evidence, anchor, context in offers
        ]
        self.admit(found, parent_key, depth, set())

    def _seed(self, *seed: Any) -> None:  # noqa: ANN401 - as posted
        super().seed(Seed(*seed))

    def _redirect(
        self, source_key: bytes, source: bytes, target: str, redirects: int, payload: str | None
    ) -> None:
        outcome = Outcome(Ending.REDIRECTED, target=target, redirects=redirects, payload=payload)
        super().redirected(decode(source), source_key, outcome)


_RECEIVE = {
    LINKS: RoutedIntake._links,  # noqa: SLF001 - this module's
    SEED: RoutedIntake._seed,  # noqa: SLF001
    REDIRECT: RoutedIntake._redirect,  # noqa: SLF001
}
