"""Which learnt terms are kept for people."""

from __future__ import annotations

from topiccrawl.addons.adaptation.extension import STORED_TERMS, stored
from topiccrawl.topics.vector import TopicVector


def test_terms_for_the_topic_are_kept_however_many_speak_against_it() -> None:
    against = {f"word{n}": -0.2 for n in range(2 * STORED_TERMS)}
    kept = stored(TopicVector.of({**against, "电池": 0.1, "汽车": 1.0}))
    assert list(kept)[:3] == ["电池", "汽车", "word0"]
    assert len(kept) == 2 + STORED_TERMS // 2
