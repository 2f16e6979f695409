"""Re-scoring of stored articles after new marks, concurrent with the crawl."""

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
"""Seconds that a closing crawl waits for the re-scoring to finish."""
PAUSE = 0.02
"""Seconds between two articles; scoring an article blocks the event loop for 1 to 2 ms."""
MIN_CHANGE = 0.005
"""Minimum difference of a score that is stored."""

Verdicts = Callable[[Page, Container[str]], dict[str, Verdict]]
"""Function that returns the verdicts of the topics with the given names, by name."""


class Rescoring:
    """Re-score the stored articles of a crawl: all topics in one task with one store.

    Args:
        settings: Settings of the project, which determine the store.
        verdicts: Returns the verdicts of the current relevance models.
    """

    def __init__(self, settings: Mapping[str, Any], verdicts: Verdicts) -> None:
        self._settings = settings
        self._verdicts = verdicts
        self._due: dict[str, None] = {}
        self._work: asyncio.Task[None] | None = None

    def begin(self, topic: str) -> None:
        """Start re-scoring the articles of a topic, after those of topics begun before."""
        self._due[topic] = None
        if self._work is None or self._work.done():
            self._work = asyncio.ensure_future(self._run())

    async def close(self) -> None:
        """Wait up to ``PATIENCE`` seconds for the task, then cancel it. Idempotent."""
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
                        "Topic %s: re-scored %d stored articles after new marks", topic, changed
                    )
        except (StateError, StorageError) as error:
            logger.warning("Stored articles cannot be re-scored: %s", error)


async def rescore(store: ArticleStore, topic: str, verdicts: Verdicts, pause: float = PAUSE) -> int:
    """Re-score the stored articles of a topic, and store the scores that changed.

    Articles stay stored whatever their new scores are. Scores of topics that are not topics of the
    crawl are kept.

    Args:
        store: An open store.
        topic: Name of the topic.
        verdicts: Returns the verdicts of the current relevance models.
        pause: Seconds between two articles.

    Returns:
        Number of articles with a changed score.

    Raises:
        StorageError: If the store cannot be read or written.
    """
    changed = 0
    async for article in store.select(Selection(topic=topic)):
        if _rescored(article, verdicts) is not None:
            story = await store.get(article.url)  # a crawl may have replaced it
            new = story and _rescored(replace(story.article, terms=article.terms), verdicts)
            if new:
                await store.save([new])
                changed += 1
        await asyncio.sleep(pause)
    return changed


def _rescored(article: Article, verdicts: Verdicts) -> Article | None:
    """Return the article with only its new scores, or None if no score changed."""
    body = article.body
    page = Page(article.url, article.title, body, prose=body, expected=article.expected)
    found = verdicts(page, article.topics)
    if all(abs(one.relevance - article.topics[name]) < MIN_CHANGE for name, one in found.items()):
        return None
    best = max(found.values(), key=attrgetter(*BEST_KEY))
    scores = {name: one.relevance for name, one in found.items()}
    return replace(article, topics=scores, terms=best.terms)
