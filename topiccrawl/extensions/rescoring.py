"""Scores of stored articles after the judge has learned."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from topiccrawl.model import Page
from topiccrawl.storage.selection import Selection

if TYPE_CHECKING:
    from topiccrawl.model import Article
    from topiccrawl.storage.contract import ArticleStore
    from topiccrawl.topics.contract import RelevanceModel

PAUSE = 0.02
"""Seconds between two articles: a judged article takes a millisecond or two of the crawl's loop."""
SAME = 0.005
"""Least difference of a score that is stored."""


async def rescore(
    store: ArticleStore, topic: str, judge: RelevanceModel, pause: float = PAUSE
) -> int:
    """Judge the stored articles of a topic again, and store the scores that changed.

    An article stays stored whatever its new score is.

    Args:
        store: An open store.
        topic: The topic's name.
        judge: The judge as it is now.
        pause: Seconds between two articles.

    Returns:
        Number of articles whose score changed.

    Raises:
        StorageError: The store cannot be read or written.
    """
    changed = 0
    async for article in store.select(Selection(topic=topic)):
        if _judged(article, topic, judge) is not None:
            story = await store.get(article.url)  # as it is now: a crawl may have replaced it
            new = story and _judged(story.article, topic, judge)
            if new:
                await store.save([new])
                changed += 1
        await asyncio.sleep(pause)
    return changed


def _judged(article: Article, topic: str, judge: RelevanceModel) -> Article | None:
    """Return the article with its new score; None if it is as before."""
    verdict = judge.score_page(Page(article.url, article.title, article.body, prose=article.body))
    if topic not in article.topics or abs(verdict.relevance - article.topics[topic]) < SAME:
        return None
    topics = {**article.topics, topic: verdict.relevance}
    return replace(article, topics=topics, terms=verdict.terms)
