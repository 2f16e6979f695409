"""Store of one of several nodes, which detects reprints of the articles of all nodes.

Articles are stored in the store of their node. A register in Redis (``addons.redis.stories``)
records the stories of all nodes; an article is claimed there before it is stored. If the node
crashes in between, the page was not acknowledged. It is fetched again and has the claim already.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import random
import socket
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from topiccrawl.addons.redis.stories import Claim, SharedStory, StoryRegister
from topiccrawl.addons.redis.transport import translated
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

RETRY_WAIT = 0.05
"""Maximum seconds until a node whose claim was rejected decides again."""

_AWAY = message(
    "Redis failed ({error}): known stories cannot be looked up; check that it runs and has "
    "enough memory"
)


class _Plan(NamedTuple):
    """Decisions on the articles of one save.

    Attributes:
        articles: The articles, with the stories that they follow up.
        elsewhere: Match of each article with a story in another store, or None.
        claims: Articles that are not in the register yet.
    """

    articles: list[Article]
    elsewhere: list[Match | None]
    claims: list[Claim]


class NodeStore(SqliteStore):
    """Store of a node that detects reprints of the stories of all nodes.

    Args:
        path: Path of the file, or of its folder (TOPICCRAWL_DATA_DIR).
        client: Returns a client of the Redis server; called when it is needed.
        method: Duplicate detector; ``VerifiedShingles`` if None.
        capacity: Number of articles that a new one is compared with, the newest.
        place: Name of the store, unique among all nodes; "" for host and path.
        name: Name of a separate register; "" for the one that all nodes share.
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
        self._save_lock = asyncio.Lock()

    @override
    async def close(self) -> None:
        if self._register is not None:
            await self._register.close()
            self._register = None
        await super().close()

    @override
    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        """See ``Store.save``; a story in another node's store is a REPRINT and not stored here."""
        async with self._save_lock:
            with translated(_AWAY):
                plan = await self._claim(articles)
            saved = await self._save_here(plan)
            refused = {one.url for one in saved if one.fate in {Fate.REPRINT, Fate.FORGOTTEN}}
            if unused := refused.intersection(claim.article.url for claim in plan.claims):
                with translated(_AWAY):  # the store of this node refused them
                    await self._open_register().withdraw(unused)
        return saved

    @override
    async def forget(self, names: Sequence[str], now: float) -> int:
        """See ``Store.forget``; texts are deleted for all nodes, names are stored in this one."""
        gone = await super().forget(names, now)
        with translated(_AWAY):
            shared = await self._open_register().forget(frozenset(names))
        return max(gone, shared)

    def _open_register(self) -> StoryRegister:
        if self._register is None:
            logger.info(
                "Articles are stored in %s; since the nodes share no store (MONGODB_URI), the"
                " duplicate index is in Redis, and reprints of stories of other nodes are dropped",
                self._place,
            )
            self._register = StoryRegister(
                self._client(), self._method, self._place, capacity=self._capacity,
                name=self._name,
            )  # fmt: skip
        return self._register

    async def _save_here(self, plan: _Plan) -> list[Saved]:
        """Save the articles that no other node has; return the fates of all articles."""
        pairs = list(zip(plan.articles, plan.elsewhere, strict=True))
        here = iter(await super().save([article for article, match in pairs if match is None]))
        return [
            next(here)
            if match is None
            else Saved(article.url, Fate.REPRINT, match.url, match.similarity, match.reason)
            for article, match in pairs
        ]

    async def _claim(self, articles: Sequence[Article]) -> _Plan:
        register = self._open_register()
        learnt: dict[str, Sequence[int]] = {}
        while True:
            await register.refresh()
            keys = await asyncio.to_thread(lambda: [self._method.keys(one) for one in articles])
            near = await register.near(keys)
            known = await register.known([article.url for article in articles])
            plan = await asyncio.to_thread(self._decide, articles, keys, near, known, learnt)
            if not plan.claims or await register.claim(plan.claims, chain(*learnt.values())):
                return plan
            await asyncio.sleep(RETRY_WAIT * random.SystemRandom().random())

    def _decide(
        self, articles: Sequence[Article], keys: Sequence[Sequence[int]],
        near: Sequence[Sequence[SharedStory]], known: dict[str, SharedStory],
        learnt: dict[str, Sequence[int]],
    ) -> _Plan:  # fmt: skip
        plan = _Plan([], [], [])
        for article, own, others in zip(articles, keys, near, strict=True):
            shared = {one.article.url: one for one in others if one.article.url != article.url}
            judged = self._method.judge(article, [one.article for one in shared.values()])
            known_as, match = linked(article, judged)
            away = match is not None and shared[match.url].store != self._place
            plan.articles.append(known_as)
            plan.elsewhere.append(match if away else None)
            before = known.get(article.url)
            same = before is not None and before.article.digest == article.digest
            if match is not None or same or not own:
                continue
            plan.claims.append(Claim(article, own))
            if before is None and article.url not in learnt:
                learnt[article.url] = self._method.learn(article)
        return plan
