from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.dedup import SHORTEST, ExactText, digest_of, fold
from topiccrawl.extract.article import Article

long_texts = st.text(alphabet=st.sampled_from(list("甲乙丙丁AbC１2３")), min_size=SHORTEST)


@given(st.text())
def test_folding_twice_equals_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(long_texts, st.lists(st.sampled_from(list(" \n，。！“”　、-")), max_size=10))
def test_blanks_and_punctuation_make_no_other_text(text: str, marks: list[str]) -> None:
    letters = list(text)
    for place, mark in enumerate(marks):
        letters.insert(place * 7 % len(letters), mark)
    assert digest_of("".join(letters)) == digest_of(text) != ""


@given(long_texts)
def test_one_more_letter_makes_another_text(text: str) -> None:
    assert digest_of(text + "9") != digest_of(text)


def test_short_texts_are_not_compared() -> None:
    method = ExactText()
    short = Article("http://a.test/1", "", "图", digest=digest_of("图"))
    assert method.keys(short) == ()
    assert method.judge(short, [Article("http://a.test/2", "", "图")]) is None


def test_the_first_of_the_same_text_is_the_story() -> None:
    method = ExactText()
    known = [Article(f"http://a.test/{n}", "", "", digest=d) for n, d in enumerate("xyy")]
    match = method.judge(Article("http://b.test/", "", "", digest="y"), known)
    assert match is not None
    assert match.url == "http://a.test/1"
    assert method.judge(Article("http://b.test/", "", "", digest="z"), known) is None


def test_lone_surrogates_are_survived() -> None:
    assert digest_of("\ud800" + "字" * 30)
