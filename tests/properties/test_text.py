"""Property tests of folding and tokens: idempotent, equal in batches, without losses."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from topiccrawl.extract.body import KANA, language_of
from topiccrawl.text.idf import DEFAULT_IDF, Idf, corpus_idf, from_frequency
from topiccrawl.text.measure import Measurer, Vocabulary
from topiccrawl.text.normal import fold, fold_all, has_han, normalise, simplify
from topiccrawl.text.tokens import (
    Tokenizer,
    canonical,
    inflections,
    latin_words,
    singular,
    split,
    stop_words,
)

RUST = Tokenizer("rjieba")
REFERENCE = Tokenizer("jieba")
PLAIN = (Tokenizer("rjieba", hmm=False), Tokenizer("jieba", hmm=False))
WORDS = st.sampled_from([
    "新能源", "汽车", "的", "足球", "NBA", "乾隆", "頭髮", "發展", "ｶﾞ", "①", "℃", "e\u0301", " ",
    "\n", "，", "5G手机", "electric-vehicles", "don't", "3.5%", "中超联赛", "İ", "ΑΣ",
    "\u1100\u1161",
])  # fmt: skip
no_deadline = settings(
    deadline=None
)  # a machine may be busy, and the first example loads dictionaries
TEXTS = st.text() | st.lists(WORDS, max_size=12).map("".join)


@no_deadline
@given(TEXTS)
@example("藴")
@example("\U0001d400\u0301")
def test_fold_is_idempotent(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@no_deadline
@given(TEXTS)
def test_normalise_is_nfkc(text: str) -> None:
    assert normalise(text) == unicodedata.normalize("NFKC", text)


def test_normalise_is_nfkc_for_every_character_between_letters() -> None:
    planes = [*range(0x80, 0xD800), *range(0xE000, 0x30000)]
    for code in planes:
        text = f"e{chr(code)}é"
        assert normalise(text) == unicodedata.normalize("NFKC", text), hex(code)


@no_deadline
@given(st.lists(TEXTS, max_size=6))
@example(["頭髮", "\U00027b79"])
def test_fold_all_is_fold_of_each(texts: list[str]) -> None:
    assert fold_all(texts) == [fold(text) for text in texts]


@no_deadline
@given(TEXTS)
def test_folded_texts_have_single_blanks_and_no_capitals(text: str) -> None:
    folded = fold(text)
    assert folded == " ".join(folded.split())
    assert folded.lower() == folded


@no_deadline
@given(st.text(st.characters(max_codepoint=0x24F)))
def test_simplify_leaves_latin_alone(text: str) -> None:
    assert simplify(text) == text


@no_deadline
@given(st.text("乾隆頭髮，藴。\n a") | TEXTS)
@example("乾，隆乾隆。頭髮乾隆")
@example("一" * 8)
def test_simplify_converts_parts_like_the_whole_text(text: str) -> None:
    whole = simplify(text)
    short = re.compile(r".{1,6}(?:(?<=\W)|\Z)|.{1,900}", re.DOTALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("topiccrawl.text.normal._PIECES", short)
        assert simplify(text) == whole


@no_deadline
@given(TEXTS)
def test_cut_loses_no_character(text: str) -> None:
    folded = fold(text)
    assert "".join(RUST.cut(folded)) == folded


@no_deadline
@given(st.lists(TEXTS | st.lists(WORDS, max_size=6).map(" ".join), max_size=6))
def test_cut_all_equals_cut_of_each(texts: list[str]) -> None:
    assert RUST.word_sets(texts) == [frozenset(RUST.words(text)) for text in texts]
    for line, pieces in zip(lines := RUST.lines(texts), RUST.cut_all(lines), strict=True):
        whole = RUST.cut(line) if has_han(line) else latin_words(line)
        assert pieces == [piece for piece in whole if piece != " "]


def test_cached_words_of_texts_follow_a_new_word_and_a_full_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("topiccrawl.text.tokens._CACHED_SETS", 2)
    cutter = Tokenizer("rjieba")
    texts = ["区块链技术", "足球", "cup finals", "足球"]
    assert cutter.word_sets(texts) == [frozenset(cutter.words(text)) for text in texts]
    cutter.add_word("区块链技术")
    assert cutter.word_sets(texts[:1]) == [{"区块链技术"}]


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, max_size=12).map("".join))
def test_engines_agree_word_for_word_without_the_model(text: str) -> None:
    rust, reference = PLAIN
    assert rust.words(text) == reference.words(text)


@no_deadline
@given(TEXTS)
def test_words_are_canonical_and_no_stop_words(text: str) -> None:
    for word in RUST.words(text):
        assert canonical(word) or not word.isascii()
        assert word not in stop_words()
        assert len(word) > 1 or word.isdigit()


@no_deadline
@given(TEXTS)
def test_words_do_not_depend_on_width_case_or_script(text: str) -> None:
    assert RUST.words(text) == RUST.words(fold(text))


@no_deadline
@given(TEXTS)
def test_splitting_gives_only_words(text: str) -> None:
    for piece in RUST.cut(fold(text)):
        assert all(word and word == canonical(word) for word in split(piece))


@no_deadline
@given(st.from_regex(r"[a-z]{1,12}", fullmatch=True))
def test_a_word_is_among_the_inflections_of_its_singular(word: str) -> None:
    stem = singular(word)
    assert len(stem) <= len(word)
    for form in inflections(stem):
        assert singular(form) == stem


@no_deadline
@given(st.text("abc 日", max_size=30))
def test_latin_words_hold_no_blanks(text: str) -> None:
    assert " ".join(latin_words(text)).split() == latin_words(text)


@no_deadline
@given(st.text(min_size=1, max_size=5), st.lists(st.sampled_from(["足球", "汽车", "的", "qx"])))
def test_idf_stays_in_its_range(word: str, phrase: list[str]) -> None:
    idf = corpus_idf()
    assert 0 < idf(word) <= DEFAULT_IDF
    assert 0 < idf.phrase(phrase) <= DEFAULT_IDF
    assert all(idf.phrase(phrase) >= idf(part) for part in phrase)


@no_deadline
@given(st.floats(1e-9, 1), st.floats(1e-9, 1))
def test_rarer_words_weigh_more(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert from_frequency(low) >= from_frequency(high) >= 0


def test_idf_above_the_maximum_is_reduced() -> None:
    assert Idf({"a": 99.0})("a") == DEFAULT_IDF


@pytest.mark.parametrize("engine", ["rjieba", "jieba"])
def test_the_order_of_adding_and_cutting_does_not_matter(engine: str) -> None:
    early = Tokenizer("rjieba" if engine == "rjieba" else "jieba", ["区块链"])
    late = Tokenizer("rjieba" if engine == "rjieba" else "jieba")
    assert "区块链" not in late.words("区块链技术")
    measurer = Measurer(Vocabulary(("技术",), (True,)), late)
    before = measurer.measure("区块链技术")
    late.add_word("區塊鏈")
    late.add_word("区块链")
    assert measurer.measure("区块链技术") != before
    assert early.words("区块链技术") == late.words("区块链技术") == ["区块链", "技术"]


@given(st.text("㏿㐀一鿿ꀀ、〄ぁーㄅAzé[`{1 \ud800\U00020000"))
@example("、〄。、一一")
def test_language_counts_characters_of_scripts_like_their_patterns(text: str) -> None:
    chinese = len(re.findall("[\u3400-\u9fff]", text))
    latin = 2 * len(re.findall("[A-Za-z]{2,}", text))
    kana = len(re.findall("[\u3041-\u30ff]", text))
    expected = "" if not chinese + latin else "en"
    if chinese and chinese >= latin:
        expected = "ja" if kana > chinese * KANA else "zh"
    assert language_of(text) == expected
