from __future__ import annotations

import pytest
import xxhash

from topiccrawl.text.idf import (
    DEFAULT_IDF,
    Idf,
    corpus_idf,
    english_frequencies,
    from_frequency,
)
from topiccrawl.text.normal import simplify


def test_chinese_and_english_words_of_one_kind_stand_near_each_other() -> None:
    idf = corpus_idf()
    pairs = [("中国", "china"), ("汽车", "car"), ("足球", "football"), ("电影", "movie")]
    pairs += [("经济", "economy"), ("公司", "company"), ("大学", "university"), ("水", "water")]
    differences = [idf(chinese) - idf(english) for chinese, english in pairs]
    assert abs(sum(differences) / len(differences)) < 1.5


@pytest.mark.parametrize(("common", "rare"), [("中国", "新能源"), ("people", "locomotive")])
def test_rare_words_weigh_more(common: str, rare: str) -> None:
    assert corpus_idf()(common) < corpus_idf()(rare)


def test_unknown_words_get_the_default_and_nothing_gets_more() -> None:
    assert corpus_idf()("不存在的词语") == corpus_idf()("qqzzxx") == DEFAULT_IDF


def test_plurals_are_counted_with_their_singular() -> None:
    assert corpus_idf()("vehicle") < DEFAULT_IDF
    assert len(corpus_idf()) > 100_000


def test_a_phrase_weighs_at_least_its_heaviest_word() -> None:
    idf = Idf({"新能源": 6.4, "汽车": 5.2})
    assert idf.phrase(["新能源", "汽车"]) == pytest.approx(11.6)
    assert idf.phrase([]) == DEFAULT_IDF


def test_a_word_that_is_every_word_stands_in_every_document() -> None:
    assert from_frequency(1.0) == pytest.approx(0.0, abs=1e-9)


def test_traditional_words_meet_their_simplified_figures() -> None:
    assert corpus_idf()(simplify("足球聯賽")[:2]) == corpus_idf()("足球")


def test_the_english_list_is_what_wordfreq_says() -> None:
    found = english_frequencies()
    assert len(found) == 28_917
    assert found["battery"] == pytest.approx(10**-4.48)
    text = ",".join(f"{word} {share:.3e}" for word, share in sorted(found.items()))
    assert xxhash.xxh64_hexdigest(text.encode()) == "5157c4703062d985"
