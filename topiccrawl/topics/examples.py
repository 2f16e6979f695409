"""Topics by example: words derived from example pages or texts."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from topiccrawl.links.urls import canonical
from topiccrawl.model import Mark
from topiccrawl.topics.marks import derived_terms
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.topics.topic import Topic

BACKGROUND = 20
"""Most background pages whose words are subtracted from a derived topic; each takes 1 to 2 ms."""


def example_urls(topic: Topic) -> Iterator[tuple[str, bool]]:
    """Yield canonical URLs of examples (with True) and counterexamples (with False)."""
    for example, wanted in _examples(topic):
        if url := canonical(example):
            yield url, wanted


def example_texts(topic: Topic) -> list[Mark]:
    """Return the examples and counterexamples that are texts as marks."""
    return [
        Mark(f"example:{hashlib.sha256(text.encode()).hexdigest()[:12]}", "", text, wanted)
        for text, wanted in _examples(topic)
        if canonical(text) is None
    ]


def derived_vector(marks: Sequence[Mark], pages: Sequence[Mark]) -> TopicVector:
    """Derive a topic vector from words that wanted pages share; empty without wanted pages.

    Args:
        marks: Marked pages.
        pages: Background pages of all kinds.
    """
    known = {mark.url for mark in marks}
    others = [page for page in pages if page.url not in known][:BACKGROUND]
    others += [mark for mark in marks if not mark.wanted]
    return TopicVector.of(derived_terms([mark for mark in marks if mark.wanted], others))


def _examples(topic: Topic) -> Iterator[tuple[str, bool]]:
    yield from ((example, True) for example in topic.examples)
    yield from ((example, False) for example in topic.counterexamples)
