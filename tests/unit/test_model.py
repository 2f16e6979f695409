"""Tests of ``Article``: JSON, Scrapy items and validation."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from itemadapter import ItemAdapter

from topiccrawl.model import Article, Unfinished

scores = st.floats(0, 1)
articles = st.builds(
    Article,
    url=st.text(min_size=1),
    title=st.text(),
    body=st.text(),
    images=st.lists(st.text()).map(tuple),
    topics=st.dictionaries(st.text(), scores),
    terms=st.lists(st.tuples(st.text(), scores)).map(tuple),
    fetched_at=st.floats(0, 4e9),
    depth=st.integers(0, 1000),
    noarchive=st.booleans(),
)


@given(articles)
def test_article_is_unchanged_by_json(article: Article) -> None:
    assert Article.from_dict(json.loads(json.dumps(article.to_dict()))) == article


def test_article_is_a_scrapy_item() -> None:
    article = Article("http://a.test/1", "题", "文")
    assert ItemAdapter.is_item(article)
    assert ItemAdapter(article).asdict()["title"] == "题"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"url": ""}, "needs a url"),
        ({"topics": {"足球": 1.5}}, "score of topic '足球' is 1.5"),
        ({"topics": {"足球": float("nan")}}, "is nan, not in"),
        ({"fetched_at": float("inf")}, "fetched_at is inf"),
    ],
)
def test_invalid_value_is_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Article.from_dict({"url": "http://a.test/1", "title": "题", "body": "文", **values})


def test_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        Article.from_dict({"url": "u", "title": "", "body": "", "colour": "red"})


def test_unfinished_article_is_logged_without_its_text() -> None:
    article = Article("http://a.test/1", "题", "很长的文")
    assert str(Unfinished(article)) == str(article) == "题 <http://a.test/1>"
