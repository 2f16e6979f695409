"""Tests of shingles and of the keys chosen from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.dedup.shingles import HAN, KEYS, LATIN, count_common, keys_of, letters, shingles

han = st.text(alphabet="的一是不了人我在有他这中大来上国和新闻车", max_size=80)


@given(han)
def test_each_distinct_run_gives_one_shingle(text: str) -> None:
    runs = {text[at : at + HAN.shingle] for at in range(len(text) - HAN.shingle + 1)}
    assert len(shingles(text)) == len(runs)


@given(st.text())
def test_keys_are_few_and_distinct(text: str) -> None:
    keys = keys_of(text)
    assert len(keys) <= KEYS
    assert len(np.unique(keys)) == len(keys)


@given(han, han)
def test_common_shingles_are_the_common_runs(one: str, other: str) -> None:
    def runs(text: str) -> set[str]:
        return {text[at : at + HAN.shingle] for at in range(len(text) - HAN.shingle + 1)}

    common = count_common(shingles(one), shingles(other))
    assert common == len(runs(one) & runs(other))
    assert common == count_common(shingles(other), shingles(one))


@given(han, han)
def test_shingles_of_a_part_are_those_of_the_whole(part: str, rest: str) -> None:
    hashes = shingles(part)
    assert count_common(hashes, shingles(part + rest)) == len(hashes)


def test_punctuation_width_case_and_script_are_ignored() -> None:
    plain = letters("新能源汽车ABC在台湾")
    assert np.array_equal(plain, letters("新能源，汽車 ａｂｃ“在臺灣”！"))


def test_characters_beyond_the_basic_plane_are_letters() -> None:
    assert len(letters("𠮷野家😀")) >= 3


def test_english_text_has_longer_shingles() -> None:
    text = "the storm reached the coast on monday morning"
    assert len(shingles(text)) == len(text.replace(" ", "")) - LATIN.shingle + 1


@pytest.mark.parametrize("text", ["", "短", "。！？", "\ud800"])
def test_too_short_text_has_no_shingles(text: str) -> None:
    assert [len(shingles(text)), len(keys_of(text))] == [0, 0]
