"""Tests of pages that reader processes parse and measure before their callback."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING
from weakref import ref

import pytest
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler
from typing_extensions import override

from topiccrawl.extract.frames import FrameTrial, FrameView
from topiccrawl.extract.reading import StandardReader
from topiccrawl.model import Page
from topiccrawl.spiders.reading import MAX_AGAIN, PageReading
from topiccrawl.text.idf import Idf
from topiccrawl.text.measure import Measurer, Measures
from topiccrawl.text.tokens import Tokenizer
from topiccrawl.topics import Scorer, TopicVector
from topiccrawl.topics.multitopic import MultiScorer
from topiccrawl.topics.scorer import MEASURED
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.extract.body import Body
    from topiccrawl.extract.extract import Conditions, Extraction
    from topiccrawl.extract.reading import RawPage, ReadPage

LINE = "今天上午，新能源汽车展览会在市中心开幕，许多市民前来参观。"
HTML = f"<title>汽车展览</title><h1>汽车展览</h1><p>2020年03月04日</p><div>{f'<p>{LINE}' * 9}</div>"


def topic(**fields: object) -> Topic:
    return Topic.model_validate({"name": "t", "terms": {"汽车": 1, "市民": 2}, **fields})


async def prepared(reading: PageReading, scorers: tuple[Scorer, ...]) -> tuple[Page, Page]:
    """Return a page that a reader process has read and measured, and the page of its article."""
    response = HtmlResponse("http://a.test/1.html", body=HTML, encoding="utf-8")
    try:
        await reading.prepare(response, lambda _read: reading.conditions(), scorers)
    finally:
        assert reading.readers is not None
        await reading.readers.close()
    read: ReadPage | None = reading.page(response)
    found = reading.extract(response)
    assert read is not None
    assert found is not None
    return read.page, Page(read.page.url, found.title, found.body, prose=found.body)


def reading() -> PageReading:
    settings = {"ADDONS": {"topiccrawl.Addon": 100}, "TOPICCRAWL_READERS": 1}
    return PageReading(get_crawler(settings_dict=settings))


def test_pages_and_articles_are_measured_by_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The crawl's process scores them as without readers, for each topic, and measures nothing."""
    topics = (
        topic(must_not=("乐团",)),
        topic(name="u", terms={"展览": 1}, synonyms={"展览": ["博览"]}),
    )
    expected = MultiScorer(topics)
    several = MultiScorer(topics)
    pages = asyncio.run(prepared(reading(), several.scorers))
    verdicts = [expected.verdicts(page) for page in pages]
    monkeypatch.delattr(Measurer, "measure")
    assert [several.verdicts(page) for page in pages] == verdicts
    assert all(verdict.relevant for found in verdicts for _, verdict in found)


def test_page_measured_for_former_terms_is_measured_again() -> None:
    scorer, expected = Scorer(topic()), Scorer(topic(), vector=TopicVector.of({"展览": 1.0}))
    pages = reading()

    async def both() -> Page:
        page = asyncio.ensure_future(prepared(pages, scorer.scorers))
        await asyncio.sleep(0)  # the page has been sent
        scorer.adopt(expected.vector)
        return (await page)[0]

    page = asyncio.run(both())
    assert scorer.score_page(page) == expected.score_page(page)
    assert dict(scorer.score_page(page).terms).keys() == {"展览"}


class ChangedFrame:
    """Frame that has changed since the page was requested."""

    def view(self) -> FrameView:
        """Return the view for the next page."""
        return FrameView(repeated=frozenset({LINE}))

    def learn(self, trial: FrameTrial, body: Body | None) -> None:
        """Learn nothing."""


@pytest.mark.parametrize("size", [0, MAX_AGAIN])
def test_only_small_pages_are_extracted_again_in_this_process(size: int) -> None:
    pages = reading()
    body = HTML.encode() + b"<!--%s-->" % (b"x" * size)
    response = HtmlResponse("http://a.test/1.html", body=body, encoding="utf-8")

    async def prepare() -> None:
        await pages.prepare(response, lambda _read: pages.conditions())
        assert pages.readers is not None
        await pages.readers.close()

    asyncio.run(prepare())
    again: list[RawPage] = []

    class CountingReader(StandardReader):
        """Reader that counts extractions."""

        @override
        def extract(self, raw: RawPage, asked: Conditions) -> Extraction:
            again.append(raw)
            return super().extract(raw, asked)

    pages.reader = CountingReader()
    assert pages.extract(response, ChangedFrame()) is not None
    assert len(again) == (not size)


class TitleScorer(Scorer):
    """Scorer that judges a page by its title."""

    @staticmethod
    @override
    def judged_text(page: Page) -> str:
        return page.title


@pytest.mark.parametrize(
    "scorer_of",
    [
        TitleScorer,
        partial(Scorer, idf=Idf({"汽车": 9.0})),
        partial(Scorer, tokenizer=Tokenizer("rjieba", ["汽车展览会"])),
    ],
    ids=["text", "idf", "tokenizer"],
)
def test_scorer_that_measures_otherwise_ignores_readers(
    scorer_of: Callable[[Topic], Scorer],
) -> None:
    scorer, expected = scorer_of(topic()), scorer_of(topic())
    for page in asyncio.run(prepared(reading(), scorer.scorers)):
        assert scorer.score_page(page) == expected.score_page(page)


def test_recorded_measures_keep_no_text() -> None:
    class Text(str):
        """A string with weak references."""

        __slots__ = ("__weakref__",)

    scorer, text = Scorer(topic()), Text(LINE)
    scorer.record(Page("", "", text), scorer.vocabulary, Measures({0: 1}, 1.0, forbidden=False))
    assert scorer.score_text(LINE) == scorer.score_text(text)
    found = ref(text)
    del text
    assert found() is None


def test_recorded_measures_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = Scorer(topic())
    scorer.score_text(LINE)
    texts = [f"{LINE}{number}" for number in range(MEASURED - 1)]
    for text in texts:
        scorer.score_text(text)
    monkeypatch.delattr(Measurer, "measure")
    for text in (LINE, *texts):
        assert scorer.score_text(text).relevant
    scorer.record(Page("", "", "another"), scorer.vocabulary, Measures({}, 0.0, forbidden=False))
    with pytest.raises(AttributeError):
        scorer.score_text(LINE)  # the oldest one
    assert scorer.score_text(texts[0]).relevant
