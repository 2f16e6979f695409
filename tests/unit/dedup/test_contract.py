"""Tests of ``ExactText``."""

from __future__ import annotations

from topiccrawl.dedup import ExactText
from topiccrawl.model import Article
from topiccrawl.text.digest import digest_of


def test_short_texts_are_not_compared() -> None:
    method = ExactText()
    short = Article("http://a.test/1", "", "图", digest=digest_of("图"))
    assert method.keys(short) == ()
    assert method.judge(short, [Article("http://a.test/2", "", "图")]) is None


def test_first_article_of_the_same_text_is_the_story() -> None:
    method = ExactText()
    known = [Article(f"http://a.test/{n}", "", "", digest=d) for n, d in enumerate("xyy")]
    match = method.judge(Article("http://b.test/", "", "", digest="y"), known)
    assert match is not None
    assert match.url == "http://a.test/1"
    assert method.judge(Article("http://b.test/", "", "", digest="z"), known) is None
