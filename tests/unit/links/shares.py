"""Scorer for tests: the share of a text's words that are words of the topic."""

from __future__ import annotations


class WordShare:
    def __init__(self, *topic: str) -> None:
        self.topic = frozenset(topic)

    def score_many(self, texts: list[str]) -> list[float]:
        return [self._share(text.lower().split()) for text in texts]

    def contains(self, text: str) -> bool:
        return not self.topic.isdisjoint(text.lower().split())

    def _share(self, words: list[str]) -> float:
        return sum(word in self.topic for word in words) / len(words) if words else 0.0
