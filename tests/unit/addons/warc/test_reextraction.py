"""Tests of the re-extraction of archived pages, by readers or in one process."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from topiccrawl.addons.warc.archive import Archive, Exchange, LatestPages
from topiccrawl.addons.warc.reextraction import FilesDone, Reextraction
from topiccrawl.errors import StorageError
from topiccrawl.extract.readers import ReaderLimits, Readers
from topiccrawl.extract.reading import LocalReader, StandardReader
from topiccrawl.model import LINKS, Article
from topiccrawl.storage.factory import articles_of, opened
from topiccrawl.topics import Scorer, SiteWords
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from pathlib import Path

TOPIC = Topic(name="t", terms={"新能源汽车": 1.0})
TRIAL = "tests.unit.extract.readers_trial.TrialReader"


def exchange(name: str, *, after: str = "") -> Exchange:
    text = "".join(f"<p>{name}第{n}段，新能源汽车展览会今天上午在市中心开幕。" for n in range(9))
    link = f"<a href={after}>下一页</a>" if after else ""
    body = f"<title>新能源汽车{name}</title><h1>新能源汽车{name}</h1>{text}{link}"
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return Exchange(f"http://a.test/{name}", 1.6e9, "GET", (), 200, headers, body.encode())


PAGES = [
    *(exchange(f"n{number}.html") for number in range(40)),
    exchange("long.html", after="long_2.html"),
    exchange("long_2.html"),
]


def extracted(
    pages: list[Exchange], readers: Readers | LocalReader, scorer: Scorer | None = None
) -> list[Article | None]:
    by_url = {page.url: page for page in pages}

    async def all_of() -> list[Article | None]:
        again = Reextraction(by_url.get, scorer or Scorer(TOPIC), readers)
        try:
            return [article async for article in again.articles(by_url)]
        finally:
            await readers.close()

    return asyncio.run(all_of())


def test_readers_extract_the_same_as_one_process() -> None:
    found = extracted(PAGES, LocalReader(StandardReader()))
    assert found == extracted(PAGES, Readers(2, TRIAL))
    urls = [article and article.url for article in found]
    assert urls == [page.url for page in PAGES]
    long = found[-2]
    assert long is not None
    assert "long_2.html第8段" in long.body


def test_page_that_crashes_its_reader_is_skipped() -> None:
    crashing = [
        exchange(f"{failure}_1.html") for failure in ("segfault", "late-abort", "late-spin")
    ]
    found = extracted(
        [*PAGES[:5], *crashing, *PAGES[5:]], Readers(1, TRIAL, ReaderLimits(seconds=3))
    )
    assert found[5:8] == [None] * 3
    assert [*found[:5], *found[8:]] == extracted(PAGES, LocalReader(StandardReader()))


def test_words_on_all_pages_of_a_site_count_less_in_the_order_of_the_pages() -> None:
    def passing(number: int) -> Exchange:
        page = exchange(f"n{number}.html")
        other = "".join(
            f"昨晚的活动结束，第{n}位市民在场边欢呼，主办方总结了全年。" for n in range(20)
        )
        text = f"<title>活动</title><h1>活动{number}</h1><p>新能源汽车报：{other}</p>"
        return page._replace(body=text.encode())

    topic = TOPIC.model_copy(update={"terms": {"新能源汽车": 1.0, "动力电池": 1.0}})
    pages = [passing(number) for number in range(60)]
    assert all(extracted(pages, LocalReader(StandardReader()), Scorer(topic)))
    numbers = []
    for readers in (LocalReader(StandardReader()), Readers(2, TRIAL)):
        articles = extracted(pages, readers, Scorer(topic, sites=SiteWords()))
        found = [article is not None for article in articles]
        assert found == sorted(found, reverse=True)
        numbers.append(sum(found))
    assert numbers[0] == numbers[1]
    assert 0 < numbers[0] < 30


@pytest.mark.parametrize(("named", "found"), [("t", True), ("another", False)])
def test_link_evidence_of_a_stored_article_counts(tmp_path: Path, named: str, found: bool) -> None:  # noqa: FBT001
    page = exchange("n1.html")
    page = page._replace(body=page.body.replace("新能源汽车".encode(), "音乐".encode()))
    known = Article(page.url, "音乐", "文", topics={named: 0.1}, terms=((LINKS, 1.0),))

    async def work() -> list[Article | None]:
        async with opened(articles_of({"TOPICCRAWL_DATA_DIR": str(tmp_path)})) as store:
            await store.save([known])
            reader = LocalReader(StandardReader())
            again = Reextraction({page.url: page}.get, Scorer(TOPIC), reader, store)
            return [article async for article in again.articles([page.url])]

    (article,) = asyncio.run(work())
    assert (article is not None) is found
    assert article is None or article.terms == ((LINKS, 1.0),)


def test_finished_files_have_the_same_topic_and_content(tmp_path: Path) -> None:
    state, file, other = (tmp_path / name for name in ("state.json", "a.warc", "b.warc"))
    for path in (file, other):
        path.write_bytes(b"1")
    done = FilesDone(state, TOPIC)
    assert file not in done
    done.add(file)
    assert file in done
    again = FilesDone(state, TOPIC)
    assert (file in again, other in again) == (True, False)
    assert file not in FilesDone(state, TOPIC, fresh=True)
    assert file not in FilesDone(state, TOPIC.model_copy(update={"name": "u"}))
    file.write_bytes(b"12")
    assert file not in again
    again.end()
    again.end()
    assert not state.exists()


def test_pages_in_work_end_with_the_extraction() -> None:
    """Work that outlived an error used the closed store and logged a stack trace for each page."""

    def broken(url: str) -> Exchange | None:
        if url.endswith("n3.html"):
            raise StorageError("a disk error")
        return None

    async def work() -> int:
        again = Reextraction(broken, Scorer(TOPIC), LocalReader(StandardReader()))
        with pytest.raises(StorageError):
            async for _ in again.articles(page.url for page in PAGES):
                pass
        return len(asyncio.all_tasks()) - 1

    assert asyncio.run(work()) == 0


def test_latest_response_may_be_a_revisit(tmp_path: Path) -> None:
    """A text that was changed back is the latest one, and so is one that another URL had first."""
    archive, first, other = Archive(tmp_path), exchange("first.html"), exchange("other.html")
    archive.open()
    for at, one in enumerate((first, first._replace(body=other.body), first, other)):
        archive.write(one._replace(at=1.6e9 + at))
    archive.write(first._replace(at=1.7e9, status=304, body=b""))
    archive.close()
    (path,) = tmp_path.glob("*.warc.gz")
    pages = LatestPages([path])
    found = [one and (one.url, one.at, one.body) for one in map(pages.get, pages.of(path))]
    assert found == [(first.url, 1.6e9 + 2, first.body), (other.url, 1.6e9 + 3, other.body)]
