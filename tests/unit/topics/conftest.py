"""Fixtures of the tests of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def scorer_for() -> Callable[..., Scorer]:
    def build(*terms: str, **parts: object) -> Scorer:
        values = {"name": "t", "terms": dict.fromkeys(terms, 1.0), **parts}
        return Scorer(Topic.model_validate(values))

    return build
