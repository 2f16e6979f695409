"""Tests of reading articles that are embedded in scripts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.extract.embedded import embedded_article
from topiccrawl.extract.extract import Conditions
from topiccrawl.extract.reading import RawPage, StandardReader
from topiccrawl.links.limits import parse_html

if TYPE_CHECKING:
    from topiccrawl.model import Extracted

URL = "https://news.test/detail/43"
LINES = [f"第{n}段：动力电池今天有了新进展，充电桩建设加快，销量继续增长。" for n in range(9)]
TITLE = "动力电池有了新进展"
MARKUP = "".join(f"<p>{line}</p>" for line in LINES)
STORY = {"title": TITLE, "content": MARKUP, "publishTime": 1_452_567_780_000}
LD = {
    "@type": "NewsArticle",
    "headline": TITLE,
    "articleBody": "\n\n".join(LINES),
    "datePublished": "2016-01-12T11:03:00+08:00",
}


def page(script: str, attributes: str = "") -> str:
    return (
        f"<html lang=zh><title>{TITLE} | 新城网</title><div id=app></div>"
        f"<script {attributes}>{script}</script>"
    )


def extracted_from(html: str) -> Extracted | None:
    raw = RawPage(html.encode(), URL, "text/html; charset=utf-8")
    reader = StandardReader()
    read = reader.read(raw)
    assert read is not None
    return reader.extract(raw, Conditions()).extracted


@pytest.mark.parametrize(
    ("script", "attributes"),
    [
        (json.dumps(LD), 'type="application/ld+json"'),
        (
            json.dumps({"props": {"story": STORY, "others": [{"title": "另一篇"}]}}),
            "id=__NEXT_DATA__",
        ),
        (f"window.__INITIAL_STATE__ = {json.dumps([{'b': STORY}])};(function(){{}})()", ""),
        (f"window['DATA']={json.dumps([STORY, {**STORY, 'title': '别的'}])}", ""),
        (quote(json.dumps(STORY)), 'type="application/json"'),
    ],
)
def test_article_in_a_script_is_read(script: str, attributes: str) -> None:
    extracted = extracted_from(page(script, attributes))
    assert extracted is not None
    assert extracted.title == TITLE
    assert extracted.body.split("\n") == LINES
    assert extracted.published == "2016-01-12T11:03:00+08:00"


def test_publication_time_is_read_next_to_publisher_fields() -> None:
    story = {"publisher": "新城网", "isPublished": True, **STORY}
    extracted = extracted_from(page(json.dumps(story)))
    assert extracted is not None
    assert extracted.published == "2016-01-12T11:03:00+08:00"


def test_page_with_text_in_a_script_only_is_blank() -> None:
    read = StandardReader().read(RawPage(page(json.dumps(STORY)).encode(), URL))
    assert read is not None
    assert read.blank
    assert LINES[0] in read.page.text


def test_long_white_space_in_scripts_is_read() -> None:
    text = "\n".join(LINES).replace("：", " " * 200_000, 1)
    story = json.dumps({"title": TITLE, "content": text})
    assert embedded_article(parse_html(f"<script>{' ' * 500_000}{story}</script>"), TITLE)


def test_many_texts_in_an_object_with_many_fields_are_read() -> None:
    fields = {f"field{n}": n for n in range(30_000)}
    texts = [{"text": f"{n}{MARKUP}"} for n in range(3_000)]
    story = {"title": TITLE, "content": MARKUP * 2}
    script = json.dumps({**fields, "story": story, "texts": texts}, ensure_ascii=False)
    assert TITLE in embedded_article(parse_html(f"<script>{script}</script>"), TITLE)


@pytest.mark.parametrize(
    "script",
    [
        "var a = 1",
        f"window.a = {{broken: {MARKUP}}}",
        json.dumps({"title": TITLE, "content": "太短。"}),
        json.dumps([{"t": MARKUP}, {"t": MARKUP.replace("电池", "车展")}]),
    ],
)
def test_other_scripts_have_no_article(script: str) -> None:
    assert extracted_from(page(script)) is None


def test_visible_text_is_preferred_to_scripts() -> None:
    shown = "".join(f"<p>页面上的{line}</p>" for line in LINES)
    extracted = extracted_from(page(json.dumps(STORY)) + f"<h1>{TITLE}</h1>{shown}")
    assert extracted is not None
    assert extracted.body.startswith("页面上的")


@given(st.text(), st.text())
def test_any_script_raises_no_exception(script: str, title: str) -> None:
    embedded_article(parse_html(f"<script>{script}</script>"), title)
    embedded_article(parse_html(f"<script>a={{{script}</script>"), title)


def test_headline_and_time_of_surrounding_objects_are_read() -> None:
    state = {"doc": {"title": TITLE, "newsTime": "2016-01-12 11:03", "body": {"parts": [
        {"type": "text", "data": MARKUP}]}}}  # fmt: skip
    found = extracted_from(page(f"var allData = {json.dumps(state)};").replace(" | 新城网", "-x"))
    assert found is not None
    assert (found.title, found.published) == (TITLE, "2016-01-12T11:03:00+08:00")


def test_longer_comment_below_the_article_is_not_the_article() -> None:
    state = {**STORY, "comments": [{"text": "我觉得动力电池还是太贵了。" * 60}]}
    found = extracted_from(page(json.dumps(state), "type=application/json"))
    assert found is not None
    assert found.body == "\n".join(LINES)


def test_links_of_a_list_in_a_script_are_read() -> None:
    news = [{"title": f"{TITLE}（{n}）", "url": f"/detail/{n}"} for n in range(3)]
    other = [{"title": "设置", "url": "#"}, {"name": "新城网", "url": "https://news.test/"}]
    state = json.dumps({"props": {"list": news, "rest": other}})
    raw = RawPage(page(f"window.__STATE__={state}").encode(), "https://news.test/", "text/html")
    read = StandardReader().read(raw)
    assert read is not None
    assert [(link.url, link.anchor) for link in read.page.links] == [
        (f"https://news.test/detail/{n}", f"{TITLE}（{n}）") for n in range(3)
    ]


def test_redirect_is_followed_beside_a_list_in_a_script() -> None:
    state = json.dumps({"title": "新城网", "url": "/about"})
    html = page(f"window.site={state}") + "<script>location.href = '/news/'</script>"
    read = StandardReader().read(RawPage(html.encode(), "https://news.test/", "text/html"))
    assert read is not None
    assert [link.url for link in read.page.links] == [
        "https://news.test/news/", "https://news.test/about"
    ]  # fmt: skip
