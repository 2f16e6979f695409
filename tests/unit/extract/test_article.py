"""Tests of composing articles from a page, its fetch and its verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest
from typing_extensions import override

from topiccrawl.extract.article import Fetch, compose, extract_article
from topiccrawl.extract.extract import Conditions, Extraction
from topiccrawl.extract.reading import HEAD, RawPage, StandardReader, extraction_of, pack, respond
from topiccrawl.model import Directives, Extracted, Page, Verdict
from topiccrawl.text.digest import digest_of


def test_article_combines_page_fetch_and_verdict() -> None:
    extracted = Extracted(
        "题", "正文" * 20, "2016-01-12", "新城晚报", "张三", "zh", ("http://i.test/1",)
    )
    page = Page(
        "http://WWW.a.test/final", "题", "", canonical="http://a.test/c",
        directives=Directives(noarchive=True),
    )  # fmt: skip
    fetch = Fetch("http://a.test/asked", fetched_at=5.0, depth=2, encoding="gb18030")
    article = compose(extracted, fetch, page, "足球", Verdict(1.0000001, True, (("球", 1.0),)))  # noqa: FBT003
    assert (article.url, article.final_url) == ("http://a.test/asked", "http://WWW.a.test/final")
    assert (article.canonical_url, article.site) == ("http://a.test/c", "www.a.test")
    assert (article.topics, article.terms) == ({"足球": 1.0}, (("球", 1.0),))
    assert (article.noarchive, article.encoding, article.depth) == (True, "gb18030", 2)
    assert len(article.digest) == 32


TEXT = "今天上午，新能源汽车展览会在市中心开幕。" * 5


class _Changing(StandardReader):
    @override
    def extract(self, raw: RawPage, asked: Conditions) -> Extraction:
        found = super().extract(raw, asked).extracted
        return Extraction(found and replace(found, body=f"{found.body}改。"))


@pytest.mark.parametrize("reader", [StandardReader(), _Changing()])
def test_reader_process_computes_the_digest_of_its_article(reader: StandardReader) -> None:
    page = RawPage(f"<h1>车展开幕</h1><p>{TEXT}</p>".encode(), "http://a.test/2026-01-02/1.html")
    request = pack((page, Conditions(), pack(())))[HEAD.size :]
    extracted = extraction_of(respond(reader, request)[HEAD.size :]).extracted
    assert extracted is not None
    assert extracted.digest == digest_of(extracted.body)
    assert extracted == reader.extract(page, Conditions()).extracted


def test_invalid_url_has_no_site() -> None:
    article = extract_article(f"<h1>车展开幕</h1><p>{TEXT}</p>", "http://[::1/2026-01-02/1.html")
    assert article is not None
    assert article.site == ""


def test_lone_surrogates_in_json_are_removed() -> None:
    linked = (
        r'{"@type": "NewsArticle", "author": "王\ud83d五", "publisher": {"name": "晨报\ud83d"}}'
    )
    html = f'<script type="application/ld+json">{linked}</script><h1>车展开幕</h1><p>{TEXT}</p>'
    article = extract_article(html, "http://a.test/1.html")
    assert article is not None
    assert (article.author, article.source) == ("王五", "晨报")
