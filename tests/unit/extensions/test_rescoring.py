"""Stored articles are scored again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from topiccrawl.extensions.marking import rescore
from topiccrawl.model import Article, Page, Verdict
from topiccrawl.storage.choice import articles_of

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.topics.contract import Reasons


class Judge:
    """Judges by the title."""

    def score_page(self, page: Page) -> Verdict:
        score = 0.9 if "goal" in page.title else 0.01
        return Verdict(score, score > 0.5, (("goal", score),))

    def explain(self, page: Page) -> Reasons:
        return self.score_page(page).terms

    def signature(self) -> str:
        return "title"


def stored(number: int, title: str, **topics: float) -> Article:
    body = f"Report {number}. " + f"{title} and what followed, part {number}. " * 20
    return Article(
        url=f"http://a.test/{number}", title=title, body=body, final_url=f"http://a.test/{number}",
        topics=topics, terms=(("old", 0.2),), fetched_at=float(number), digest=str(number),
    )  # fmt: skip


def test_scores_follow_the_judge_and_nothing_else_changes(tmp_path: Path) -> None:
    async def work() -> None:
        store = articles_of({"TOPICCRAWL_DATA_DIR": str(tmp_path)})
        await store.open()
        known = [
            stored(1, "A late goal", ball=0.2, city=0.4), stored(2, "Rain", ball=0.2),
            stored(3, "Another goal", city=0.3), stored(4, "Own goal", ball=0.9),
        ]  # fmt: skip
        await store.save(known)
        assert await rescore(store, "ball", Judge(), pause=0) == 2
        found = {a.url[-1]: a for a in await store.articles()}
        assert dict(found["1"].topics) == {"ball": 0.9, "city": 0.4}
        assert dict(found["2"].topics) == {"ball": 0.01}
        assert dict(found["3"].topics) == {"city": 0.3}
        assert found["1"].terms == (("goal", 0.9),)
        assert [a.body for a in known] == [found[str(n)].body for n in (1, 2, 3, 4)]
        assert await store.versions("http://a.test/1") == []
        assert await rescore(store, "ball", Judge(), pause=0) == 0
        await store.close()

    asyncio.run(work())
