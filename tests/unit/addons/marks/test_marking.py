"""Tests of the page sample and of learning from marks in another process."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from scrapy.utils.test import get_crawler

from topiccrawl.addons.marks.extension import (
    CHARACTERS,
    SAMPLE,
    MarkedTopic,
    PageSample,
    learn_in_process,
)
from topiccrawl.errors import StorageError
from topiccrawl.model import Mark, Page
from topiccrawl.topics import Scorer
from topiccrawl.topics.learning import request
from topiccrawl.topics.marks import MarkedModel
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

TOPIC = Topic(name="t", terms={"football": 1.0})


def test_all_judged_pages_are_sampled_with_equal_probability() -> None:
    found: Counter[str] = Counter()
    for seed in range(20):
        sample = PageSample(0, (), random.Random(seed))  # noqa: S311
        for number in range(4 * SAMPLE):
            sample.add(Page(str(number), "", "x" * 9_000))
        assert (sample.seen, len(sample.pages)) == (4 * SAMPLE, SAMPLE)
        assert all(len(page.text) == CHARACTERS for page in sample.pages)
        found.update(str(int(page.url) // SAMPLE) for page in sample.pages)
    assert all(800 < found[quarter] < 1200 for quarter in "0123")


def test_sample_is_kept_after_a_restart() -> None:
    sample = PageSample(1_000_000, [Mark("a", "", "")] * SAMPLE, random.Random(1))  # noqa: S311
    for number in range(100):
        sample.add(Page(str(number), "", ""))
    assert sum(page.url == "a" for page in sample.pages) >= SAMPLE - 1


def test_model_is_learnt_in_another_process() -> None:
    marks = [
        Mark(f"http://a.test/{word}/{n}", "", f"{word} season {n}", word == "striker")
        for n in range(6)
        for word in ("striker", "orchestra")
    ]
    found = asyncio.run(learn_in_process(request(Scorer(TOPIC), marks, ())))
    assert found is not None
    model = MarkedModel.from_json(Scorer(TOPIC), found)
    striker, orchestra = (
        model.score_page(Page("u", "", text, prose=text)).relevance
        for text in ("the striker", "the orchestra")
    )
    assert striker > orchestra
    assert asyncio.run(learn_in_process(request(Scorer(TOPIC), (), ()))) == ""


def test_failed_process_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert asyncio.run(learn_in_process("no JSON")) is None
    assert "Learning from marks failed" in caplog.text


def test_outage_of_the_store_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(_refresh_in_outages(2, tmp_path))
    assert caplog.text.count("New marks cannot be read") == 2


async def _refresh_in_outages(number: int, folder: Path) -> None:
    crawler: Any = get_crawler(settings_dict={"TOPICCRAWL_DATA_DIR": str(folder)})
    crawler.spider = SimpleNamespace(scorer=Scorer(TOPIC))
    (marks,) = MarkedTopic(crawler).topics
    for _ in range(number):
        for answer in (_fail, _fail, _unchanged):
            marks.store = cast("Any", SimpleNamespace(changed=answer))
            await marks._refresh()


async def _fail() -> float:
    raise StorageError("away")


async def _unchanged() -> float:
    return -1.0
