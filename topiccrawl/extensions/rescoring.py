"""Scores of stored articles follow new marks, beside the crawl."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from topiccrawl.errors import StateError, StorageError
from topiccrawl.model import Article, Page, Verdict
from topiccrawl.storage.factory import articles_of, opened
from topiccrawl.storage.selection import Selection
from topiccrawl.topics.multitopic import BEST_KEY

if TYPE_CHECKING:
    from topiccrawl.storage.contract import ArticleStore

logger = logging.getLogger(__name__)

PATIENCE = 5.0
"""Seconds that the end of a crawl waits for the scores of stored articles."""
PAUSE = 0.02
"""Seconds between two articles: a judged article takes a millisecond or two of the crawl's loop."""
SAME = 0.005
"""Least difference of a score that is stored."""

Verdicts = Callable[[Page, Container[str]], dict[str, Verdict]]
"""Returns the verdicts of a crawl's topics with these names, as it stores them, by name."""


class Rescoring:
    """Scores the stored articles of a crawl again: all of its topics in one task, one store.

    Args:
        settings: Name the store.
        verdicts: Judges of the crawl as they are when an article comes up.
    """

    def __init__(self, settings: Mapping[str, Any], verdicts: Verdicts) -> None:
        self._settings = settings
        self._verdicts = verdicts
        self._due: dict[str, None] = {}
        self._work: asyncio.Task[None] | None = None

    def begin(self, topic: str) -> None:
        """Score the articles of a topic, now or after those of topics that came before."""
        self._due[topic] = None
        if self._work is None or self._work.done():
            self._work = asyncio.ensure_future(self._run())

    async def close(self) -> None:
        """Wait ``PATIENCE`` seconds for the end, then cancel the rest. Idempotent."""
        if self._work is not None:
            await asyncio.wait([self._work], timeout=PATIENCE)
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def _run(self) -> None:
        try:
            async with opened(articles_of(self._settings)) as store:
                while self._due:
                    topic = next(iter(self._due))
                    del self._due[topic]
                    changed = await rescore(store, topic, self._verdicts)
                    logger.info(
                        "Topic %s: scores of %d stored articles follow the marks", topic, changed
                    )
        except (StateError, StorageError) as error:
            logger.warning("Stored articles keep their scores: %s", error)


async def rescore(store: ArticleStore, topic: str, verdicts: Verdicts, pause: float = PAUSE) -> int:
    """Judge the stored articles of a topic again, and store the scores that changed.

    An article stays stored whatever its new scores are. Those of topics that the crawl does not
    have stay.

    Args:
        store: An open store.
        topic: The topic's name.
        verdicts: Judges of the crawl.
        pause: Seconds between two articles.

    Returns:
        Number of articles with a score that changed.

    Raises:
        StorageError: The store cannot be read or written.
    """
    changed = 0
    async for article in store.select(Selection(topic=topic)):
        if _judged(article, verdicts) is not None:
            story = await store.get(article.url)  # as it is now: a crawl may have replaced it
            new = story and _judged(story.article, verdicts)
            if new:
                await store.save([new])
                changed += 1
        await asyncio.sleep(pause)
    return changed


def _judged(article: Article, verdicts: Verdicts) -> Article | None:
    """Return the article with its new scores, and no others; None if all are as before."""
    page = Page(article.url, article.title, article.body, prose=article.body)
    found = verdicts(page, article.topics)
    if all(abs(one.relevance - article.topics[name]) < SAME for name, one in found.items()):
        return None
    best = max(found.values(), key=attrgetter(*BEST_KEY))
    scores = {name: one.relevance for name, one in found.items()}
    return replace(article, topics=scores, terms=best.terms)
