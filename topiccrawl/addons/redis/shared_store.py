"""A store of one node of several: reprints are detected among the articles of all nodes.

Articles stay in the node's own store. A register in Redis (``addons.redis.stories``) records the
stories of all nodes; an article is claimed there before it is stored. If the node dies in between,
its page was not acknowledged: it is fetched again, and the claim is its own.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import random
import socket
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from topiccrawl.addons.redis.client import translated
from topiccrawl.addons.redis.stories import Claim, SharedStory, StoryRegister
from topiccrawl.dedup.contract import linked
from topiccrawl.dedup.index import CAPACITY
from topiccrawl.dedup.verified import VerifiedShingles
from topiccrawl.messages import message
from topiccrawl.storage.contract import Fate, Saved
from topiccrawl.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from redis.asyncio import Redis

    from topiccrawl.dedup import DuplicateDetector, Match
    from topiccrawl.model import Article

logger = logging.getLogger(__name__)

AGAIN = 0.05
"""Seconds at most until a node that was not first decides again."""

_AWAY = message(
    "Redis does not answer as it should ({error}): which stories are "
    "known is unclear; see that it runs and has room"
)


class _Plan(NamedTuple):
    """Decisions on the articles of one save.

    Attributes:
        articles: The articles, with the stories that they follow up.
        matches: Matching story and its store for each article, or None.
        claims: Articles that are new to the register.
        marks: Boilerplate learnt.
    """

    articles: list[Article]
    matches: list[tuple[Match, str] | None]
    claims: list[Claim]
    marks: list[int]


class TogetherStore(SqliteStore):
    """A node's own store that detects reprints of the stories of all nodes.

    Args:
        path: The file, or its folder (TOPICCRAWL_DATA_DIR).
        client: Makes a client of the Redis server, once it is needed.
        method: Detects duplicates; ``VerifiedShingles`` if None.
        capacity: Articles that a new one is compared with, the newest.
        place: Name of the store, unique among all nodes; "": host and path.
        name: Of a register that is not all nodes', or "".
    """

    def __init__(
        self, path: str | Path, client: Callable[[], Redis], *,
        method: DuplicateDetector | None = None, capacity: int = CAPACITY, place: str = "",
        name: str = "",
    ) -> None:  # fmt: skip
        super().__init__(path, method=method, capacity=capacity)
        self._place = place or f"{socket.gethostname()}:{self.path.resolve()}"
        self._client = client
        self._method = copy.deepcopy(method) if method is not None else VerifiedShingles()
        self._capacity, self._name = capacity, name
        self._register: StoryRegister | None = None
        self._turn = asyncio.Lock()

    @override
    async def close(self) -> None:
        if self._register is not None:
            await self._register.close()
            self._register = None
        await super().close()

    @override
    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        """See ``Store.save``; a story in another node's store is a REPRINT and not stored here."""
        async with self._turn:
            with translated(_AWAY):
                plan = await self._claimed(articles)
            saved = await self._save_here(plan)
            doubles = {one.url for one in saved if one.fate in {Fate.REPRINT, Fate.FORGOTTEN}}
            if lost := doubles.intersection(claim.article.url for claim in plan.claims):
                with translated(_AWAY):  # the node's own store refused them
                    await self._opened().withdraw(lost)
        return saved

    @override
    async def forget(self, names: Sequence[str], now: float) -> int:
        """See ``Store.forget``; all nodes forget the texts, this one keeps the names."""
        gone = await super().forget(names, now)
        with translated(_AWAY):
            shared = await self._opened().forget(frozenset(names))
        return max(gone, shared)

    def _opened(self) -> StoryRegister:
        if self._register is None:
            logger.info(
                "Articles stay in %s; the nodes share no store (MONGODB_URI): the index of"
                " duplicates lies in Redis, and a reprint of another node's story is not kept",
                self._place,
            )
            self._register = StoryRegister(
                self._client(), self._method, self._place, capacity=self._capacity,
                name=self._name,
            )  # fmt: skip
        return self._register

    async def _save_here(self, plan: _Plan) -> list[Saved]:
        """Save the articles that no other node has; return the fates of all."""
        elsewhere = [match is not None and match[1] != self._place for match in plan.matches]
        pairs = zip(plan.articles, elsewhere, strict=True)
        here = iter(await super().save([article for article, away in pairs if not away]))
        saved = []
        for article, found in zip(plan.articles, plan.matches, strict=True):
            if found is not None and found[1] != self._place:
                match = found[0]
                known = (match.url, match.similarity, match.reason)
                saved.append(Saved(article.url, Fate.REPRINT, *known))
            else:
                saved.append(next(here))
        return saved

    async def _claimed(self, articles: Sequence[Article]) -> _Plan:
        register = self._opened()
        learnt: dict[str, Sequence[int]] = {}
        while True:
            await register.refresh()
            keys = await asyncio.to_thread(lambda: [self._method.keys(one) for one in articles])
            near = await register.near(keys)
            known = await register.known([article.url for article in articles])
            plan = await asyncio.to_thread(self._decide, articles, keys, near, known, learnt)
            if not plan.claims or await register.claim(plan.claims, plan.marks):
                return plan
            await asyncio.sleep(AGAIN * random.SystemRandom().random())

    def _decide(
        self, articles: Sequence[Article], keys: Sequence[Sequence[int]],
        near: Sequence[Sequence[SharedStory]], known: dict[str, SharedStory],
        learnt: dict[str, Sequence[int]],
    ) -> _Plan:  # fmt: skip
        plan = _Plan([], [], [], [])
        for article, own, others in zip(articles, keys, near, strict=True):
            shared = {one.article.url: one for one in others if one.article.url != article.url}
            judged = self._method.judge(article, [one.article for one in shared.values()])
            known_as, match = linked(article, judged)
            plan.articles.append(known_as)
            plan.matches.append(match and (match, shared[match.url].store))
            before = known.get(article.url)
            same = before is not None and before.article.digest == article.digest
            if match is not None or same or not own:
                continue
            plan.claims.append(Claim(article, own))
            if before is None and article.url not in learnt:
                learnt[article.url] = self._method.learn(article)
        plan.marks.extend(mark for marks in learnt.values() for mark in marks)
        return plan
