from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from lab.demo.plan import Kind

if TYPE_CHECKING:
    from lab.demo import Truth, Web

WIDTH = 5


def told(web: Web) -> list[Truth]:
    return [t for t in web.truth.values() if t.kind == Kind.ARTICLE]


def shingles(text: str) -> set[str]:
    text = text.replace("\n", "")
    return {text[i : i + WIDTH] for i in range(len(text) - WIDTH + 1)}


def likeness(one: Truth, other: Truth) -> float:
    a, b = shingles(one.body), shingles(other.body)
    return len(a & b) / len(a | b)


def folded(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_served_bytes_hold_the_truth(web: Web) -> None:
    for truth in web.truth.values():
        answer = web.answer(truth.url, 9, "seen=1")
        if truth.story < 0 or answer.status != 200:
            continue
        html = answer.body.decode(truth.encoding)
        text = folded(LexborHTMLParser(html).text())
        assert folded(truth.title) in text, truth.url
        for paragraph in truth.body.split("\n"):
            assert folded(paragraph) in text, truth.url


def test_encodings_are_many_and_declared_in_conflicting_ways(web: Web) -> None:
    kinds = set()
    for truth in told(web):
        answer = web.answer(truth.url, 9, "seen=1")
        header = dict(answer.headers).get("Content-Type", "").partition("charset=")[2].lower()
        meta = re.search(rb"charset=\"?([\w-]+)", answer.body.partition(b"<body")[0])
        kinds.add((truth.encoding, header, meta[1].decode().lower() if meta else ""))
    assert {kind[0] for kind in kinds} >= {"utf-8", "gb18030", "big5"}
    assert ("gb18030", "", "gb2312") in kinds
    assert ("gb18030", "gb2312", "") in kinds


def test_traditional_sites_write_traditional(web: Web) -> None:
    bodies = [t.body for t in told(web) if t.language == "zh-Hant"]
    assert bodies
    assert sum("們" in b or "電" in b or "車" in b or "學" in b for b in bodies) > len(bodies) / 2
    assert not any("车" in body for body in bodies)


def test_reprints_share_their_story_and_most_of_its_text(web: Web) -> None:
    reprints = [t for t in told(web) if t.reprint_of]
    assert len(reprints) > 15
    for reprint in reprints:
        original = web.truth[reprint.reprint_of]
        assert reprint.story == original.story
        assert reprint.published > original.published
        if reprint.language == original.language:
            assert reprint.source == original.source
            a, b = shingles(reprint.body), shingles(original.body)
            assert len(a & b) / len(a) > 0.9
    assert len({t.title != web.truth[t.reprint_of].title for t in reprints}) == 2


def test_near_misses_are_other_stories_of_the_same_mould(web: Web) -> None:
    by_story = {t.story: t for t in told(web) if not t.reprint_of}
    pairs = [(t, by_story[t.like]) for t in by_story.values() if t.like in by_story]
    assert len(pairs) > 10
    for near, model in pairs:
        assert near.story != model.story
        assert near.published != model.published
        assert folded(near.body) != folded(model.body)
        if near.language == model.language == "zh":
            assert likeness(near, model) > 0.15


def test_unrelated_stories_do_not_look_alike(web: Web) -> None:
    own = [t for t in told(web) if not t.reprint_of and t.like < 0 and t.language == "zh"]
    own = [t for t in own if t.subject == web.plan.topic.slug]
    assert len(own) > 40
    worst = max(
        likeness(one, other)
        for i, one in enumerate(own)
        for other in own[:i]
        if one.story != other.story
    )
    assert worst < 0.25


def test_the_topic_s_words_are_no_giveaway(web: Web) -> None:
    articles = [t for t in told(web) if t.language == "zh"]
    literal = Counter((t.relevant, web.topic in t.title + t.body) for t in articles)
    assert 0.2 < literal[True, True] / (literal[True, True] + literal[True, False]) < 0.8
    assert literal[False, True] > 0


def test_dates_sources_and_authors_stand_on_the_page(web: Web) -> None:
    for truth in (t for t in told(web) if t.status == 200):
        html = web.answer(truth.url, 9, "seen=1").body.decode(truth.encoding)
        text = LexborHTMLParser(html).text()
        when = datetime.fromisoformat(truth.published)
        assert str(when.year) in text
        assert f"{when:%H:%M}" in text
        assert truth.author in text
        assert truth.source in text
