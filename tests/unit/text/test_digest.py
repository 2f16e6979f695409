"""Tests of text folding and of text digests."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.text.digest import SHORTEST, digest_of, fold

long_texts = st.text(alphabet=st.sampled_from(list("甲乙丙丁AbC１2３")), min_size=SHORTEST)


@given(st.text())
def test_folding_is_idempotent(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text() | st.text(st.sampled_from("，。 …\u3000\xa0aAéÉ\u0301½㎞ﬁ_1１中")))
def test_folding_is_nfkc_without_punctuation(text: str) -> None:
    spoken = re.sub(r"[\s，。！？、；：（）《》“”‘’…—·]+", "", text)
    plain = unicodedata.normalize("NFKC", spoken).casefold()
    assert fold(text) == re.sub(r"[\W_]+", "", plain)


@given(long_texts, st.lists(st.sampled_from(list(" \n，。！“”　、-")), max_size=10))
def test_blanks_and_punctuation_do_not_change_the_digest(text: str, marks: list[str]) -> None:
    letters = list(text)
    for place, mark in enumerate(marks):
        letters.insert(place * 7 % len(letters), mark)
    assert digest_of("".join(letters)) == digest_of(text) != ""


@given(long_texts)
def test_added_letter_changes_the_digest(text: str) -> None:
    assert digest_of(text + "9") != digest_of(text)


def test_lone_surrogates_raise_no_error() -> None:
    assert digest_of("\ud800" + "字" * 30)
