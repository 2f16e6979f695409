from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.demo.grammar import Writer, parse

PLAIN = st.text(st.characters(exclude_characters="{}[]|", exclude_categories=["Cs"]))


def writer(seed: int = 0, figures: int = 0) -> Writer:
    words = {"maker": ["云驰", "极岸", "{city}汽车"], "city": ["云泽", "北屿", "南棠"]}
    shape, facts, numbers = map(random.Random, (seed, seed, figures))
    return Writer(words, {"m": "3"}, shape, facts, numbers)


@given(PLAIN)
def test_text_without_slots_stays(text: str) -> None:
    assert writer().write(text) == text


@given(st.lists(PLAIN, min_size=1, max_size=4), st.integers(0, 99))
def test_one_of_the_alternatives(options: list[str], seed: int) -> None:
    assert writer(seed).write("<[" + "|".join(options) + "]>")[1:-1] in options


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 9))
def test_numbers_stay_in_their_range(low: int, more: int, seed: int) -> None:
    high = low + more
    assert low <= int(writer(figures=seed).write(f"{{n {low} {high}}}")) <= high
    assert low <= float(writer(figures=seed).write(f"{{f {low} {high}}}")) <= high


def test_slot_keeps_its_word_unless_marked_with_plus() -> None:
    for seed in range(20):
        kept = writer(seed).write("{maker}|{maker}".replace("|", " "))
        assert len(set(kept.split())) == 1
    redrawn = {writer(seed).write("{city+} {city+}") for seed in range(30)}
    assert any(len(set(pair.split())) == 2 for pair in redrawn)


def test_other_figures_change_nothing_but_numbers() -> None:
    template = "{maker}[在|于]{city}卖出{n 1000 9999}辆，{m}月"
    first, second = writer(3, 1).write(template), writer(3, 2).write(template)
    assert first != second
    assert re.sub(r"\d+", "#", first) == re.sub(r"\d+", "#", second)


@pytest.mark.parametrize("text", ["[a|b", "a]", "a|b"])
def test_a_bracket_out_of_place_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(text))):
        parse(text)
