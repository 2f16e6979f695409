"""Tests of the tokenizers: words, stop words, added words and loading."""

from __future__ import annotations

import subprocess
import sys
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from tests.waiting import PATIENCE
from topiccrawl.text import tokens
from topiccrawl.text.tokens import BatchCache, Tokenizer, canonical, shared_tokenizer, tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

SENTENCES = (
    "新能源汽车的销量今年继续增长，充电桩也越来越多。",
    "國足在世界盃預選賽中以2比1戰勝對手！",
    "中超联赛第三轮，王晓东在补时阶段打入制胜一球。",
    "The U.S. electric-vehicle maker's cars, state-of-the-art batteries & 3.5% growth.",
    "5G手机和AI芯片的出货量同比增长12.5%",
    "naïve café für Straße",
)
REFERENCE = Tokenizer("jieba")


@pytest.fixture(scope="module", params=["rjieba", "jieba"])
def engine(request: pytest.FixtureRequest) -> Tokenizer:
    return Tokenizer(request.param)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_both_engines_give_the_same_words(engine: Tokenizer, sentence: str) -> None:
    assert engine.words(sentence) == REFERENCE.words(sentence)


def test_mixed_text_is_split_into_words(engine: Tokenizer) -> None:
    found = engine.words("ＮＢＡ球星参观了新能源汽車工厂 (electric vehicles), 2026年")
    assert found == ["nba", "球星", "参观", "新能源", "汽车", "工厂", "electric", "vehicle", "2026"]


def test_single_characters_are_words_only_if_added(engine: Tokenizer) -> None:
    assert engine.words("喝 茶") == []
    assert Tokenizer("rjieba", ["茶"]).words("喝 茶") == ["茶"]


def test_added_word_is_not_split(engine: Tokenizer) -> None:
    own = Tokenizer("rjieba" if engine.name == "rjieba" else "jieba", ["新能源汽車"])
    assert own.words("我国新能源汽车产业") == ["我国", "新能源汽车", "产业"]


def test_added_words_belong_to_one_tokenizer() -> None:
    tokenizer(["新能源汽车"]).words("新能源汽车")
    assert tokenizer().words("新能源汽车") == ["新能源", "汽车"]


def test_accented_letters_do_not_split_words() -> None:
    assert shared_tokenizer().words("café naïve") == ["café", "naïve"]


@pytest.mark.parametrize("word", ["the", "的", "，", " ", "", "a", "我们", "_", "球"])
def test_stop_words_are_removed(word: str) -> None:
    assert canonical(word) == ""


def test_stop_word_lists_have_only_valid_entries() -> None:
    assert all(word == word.strip() and len(word) > 0 for word in tokens.stop_words())
    assert "新能源" not in tokens.stop_words()


def test_import_prints_nothing_and_loads_no_dictionary() -> None:
    code = (
        "import sys, topiccrawl.text.tokens as t; assert 'jieba' not in sys.modules;"
        "print(t.Tokenizer('jieba').words('足球比赛'))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=PATIENCE
    )
    assert run.stdout.strip() == "['足球比赛']" or "足球" in run.stdout
    assert "Building prefix dict" not in run.stderr
    assert "Loading model" not in run.stderr


def test_an_added_character_is_a_word_after_it_was_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for most in (100, 0):
        monkeypatch.setattr("topiccrawl.text.tokens._CACHED_PIECES", most)
        cutter = Tokenizer("rjieba")
        texts = ["喝 茶 5 杯", "茶，喝茶"]
        assert cutter.word_sets(texts) == [{"5"}, {"喝茶"}]
        cutter.add_word("茶")
        assert cutter.word_sets(texts) == [set(cutter.words(text)) for text in texts]
        assert cutter.words(texts[0]) == ["茶", "5"]


def test_cache_may_be_cleared_by_another_thread_meanwhile() -> None:
    def compute(texts: Sequence[str]) -> list[str]:
        if "c" in texts:
            other = Thread(target=cache, args=(["x", "y"],))
            other.start()
            other.join()
        return [text.upper() for text in texts]

    cache = BatchCache(compute, most=2)
    assert cache(["a"]) == ["A"]
    assert cache(["a", "c"]) == ["A", "C"]
