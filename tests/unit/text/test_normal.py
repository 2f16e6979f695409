"""Tests of the folding of character forms."""

from __future__ import annotations

import unicodedata

import pytest

from topiccrawl.text import normal
from topiccrawl.text.normal import fold, fold_all, has_han, normalise, simplify


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("ＡＢＣ１２３", "abc123"),
        ("新能源汽車", "新能源汽车"),
        ("著名的乾隆皇帝曬乾了頭髮", "著名的乾隆皇帝晒干了头发"),
        ("  a \t\u3000\xa0 b\r\n", "a b"),
        ("㎞ ℃ ① Ⅷ ﬁ", "km °c 1 viii fi"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("e\u0301", "é"),
        ("İstanbul", "istanbul"),
        ("𝐀𝐁 😀", "ab 😀"),
        ("𠁞", "𠀾"),
        ("汽\x00車", "汽\x00车"),
        ("", ""),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_fold_all_keeps_line_ends_inside_their_text() -> None:
    assert fold_all(["A\nB", "", "漢\n字"]) == ["a b", "", "汉 字"]
    assert fold_all([]) == []


def test_text_without_traditional_characters_is_returned_as_is() -> None:
    text = "新能源汽车的销量"
    assert simplify(text) is text
    assert normalise(text) is text


@pytest.mark.parametrize("sentence", ["新能源汽車。", "新能源汽車"])
def test_long_texts_are_converted_in_parts(monkeypatch: pytest.MonkeyPatch, sentence: str) -> None:
    """OpenCC blocks all other threads."""
    traditional, convert = normal._converter()
    lengths: list[int] = []

    def recorded(text: str) -> str:
        lengths.append(len(text))
        return convert(text)

    monkeypatch.setattr("topiccrawl.text.normal._converter", lambda: (traditional, recorded))
    assert simplify(sentence * 20_000) == sentence.replace("車", "车") * 20_000
    assert max(lengths) <= 20_000


@pytest.mark.parametrize("marks", ["\u0323\u0301", "\u0323\uff9e", "\U0001d165\u20d0"])
def test_long_runs_of_combining_marks_are_separated(marks: str) -> None:
    """NFKC sorts each run, which takes quadratic time."""
    runs = normalise(f"a{marks * 1_000}").split(" ")
    assert max(map(len, runs)) <= 301
    assert normalise(f"a{marks * 100}") == unicodedata.normalize("NFKC", f"a{marks * 100}")


def test_has_han() -> None:
    assert has_han("abc 汉")
    assert not has_han("abc ，。！ かな 한글")
