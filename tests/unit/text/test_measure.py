"""Tests of the measures of a text for several topics."""

from __future__ import annotations

from collections import Counter

from typing_extensions import override

from topiccrawl.text.measure import Measurer, Vocabulary
from topiccrawl.text.tokens import Tokenizer, tokenizer

TITLE, TEXT = "新能源汽车", "新能源汽車的銷量，Electric cars，足球比赛。" * 200
TERMS = ("汽车", "足球"), ("比赛",), ("car", "新能源"), ("排球",)


class CountingTokenizer(Tokenizer):
    """A tokenizer that counts how often it segments each text."""

    def __init__(self) -> None:
        super().__init__("rjieba")
        self.cuts: Counter[str] = Counter()

    @override
    def cut(self, text: str) -> list[str]:
        self.cuts[text] += 1
        return super().cut(text)


def test_a_text_is_segmented_once_for_all_topics() -> None:
    counting = CountingTokenizer()
    measurers = [Measurer(Vocabulary(terms, (True,) * len(terms)), counting) for terms in TERMS]
    counting.cuts.clear()
    found = [one.measure(TEXT, TITLE) for one in measurers]
    assert set(counting.cuts.values()) == {1}
    assert len(counting.cuts) == 2  # the sample of the text and the title
    for terms, measures in zip(TERMS, found, strict=True):
        alone = Measurer(Vocabulary(terms, (True,) * len(terms)), tokenizer())
        assert alone.measure(TEXT, TITLE) == measures
