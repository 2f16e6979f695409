"""Tests of the inverse document frequencies of words and phrases."""

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


def test_comparable_chinese_and_english_words_have_similar_idf() -> None:
    idf = corpus_idf()
    pairs = [("中国", "china"), ("汽车", "car"), ("足球", "football"), ("电影", "movie")]
    pairs += [("经济", "economy"), ("公司", "company"), ("大学", "university"), ("水", "water")]
    differences = [idf(chinese) - idf(english) for chinese, english in pairs]
    assert abs(sum(differences) / len(differences)) < 1.5


@pytest.mark.parametrize(("common", "rare"), [("中国", "新能源"), ("people", "locomotive")])
def test_rare_words_have_a_higher_idf(common: str, rare: str) -> None:
    assert corpus_idf()(common) < corpus_idf()(rare)


def test_unknown_words_get_the_default_which_is_the_maximum() -> None:
    assert corpus_idf()("不存在的词语") == corpus_idf()("qqzzxx") == DEFAULT_IDF


def test_plural_has_the_idf_of_its_singular() -> None:
    assert corpus_idf()("vehicle") < DEFAULT_IDF
    assert len(corpus_idf()) > 100_000


def test_idf_of_a_phrase_is_at_least_that_of_its_rarest_word() -> None:
    idf = Idf({"新能源": 6.4, "汽车": 5.2})
    assert idf.phrase(["新能源", "汽车"]) == pytest.approx(11.6)
    assert idf.phrase([]) == DEFAULT_IDF


def test_frequency_of_one_gives_an_idf_of_zero() -> None:
    assert from_frequency(1.0) == pytest.approx(0.0, abs=1e-9)


def test_traditional_words_have_the_idf_of_their_simplified_form() -> None:
    assert corpus_idf()(simplify("足球聯賽")[:2]) == corpus_idf()("足球")


def test_english_list_matches_wordfreq() -> None:
    found = english_frequencies()
    assert len(found) == 28_917
    assert found["battery"] == pytest.approx(10**-4.48)
    text = ",".join(f"{word} {share:.3e}" for word, share in sorted(found.items()))
    assert xxhash.xxh64_hexdigest(text.encode()) == "5157c4703062d985"
