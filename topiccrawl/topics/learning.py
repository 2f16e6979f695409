"""Learning from marks in a process of its own: ``python -m topiccrawl.topics.learning``.

Topic, marks and background come as JSON on standard input; the learnt part of the model goes to
standard output, empty if the marks are too few to learn from.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from topiccrawl.model import Mark, Page
from topiccrawl.topics.marks import MarkedModel, learn, learn_unmarked
from topiccrawl.topics.scorer import Scorer
from topiccrawl.topics.sitewords import SiteWords
from topiccrawl.topics.topic import Topic
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from collections.abc import Iterable


def request(
    scorer: Scorer, marks: Iterable[Mark], background: Iterable[Mark], *, unmarked: bool = False
) -> str:
    """Return the input of the process; ``unmarked``: the marks are pages chosen by their score."""
    return json.dumps(
        {
            "unmarked": unmarked,
            "topic": scorer.topic.model_dump(mode="json"),
            "terms": dict(scorer.vector.items()),
            "marks": [mark._asdict() for mark in marks],
            "background": [page._asdict() for page in background],
        }
    )


def answer(text: str) -> str:
    """Return the output of the process for its input."""
    asked = json.loads(text)
    marks, background = ([Mark(**one) for one in asked[name]] for name in ("marks", "background"))
    topic, vector = Topic.model_validate(asked["topic"]), TopicVector.of(asked["terms"])
    scorer = Scorer(topic, vector=vector, sites=SiteWords())
    for page in background:
        scorer.observe(as_page(page))
    model = (learn_unmarked if asked["unmarked"] else learn)(scorer, marks, background)
    return model.to_json() if isinstance(model, MarkedModel) else ""


def as_page(mark: Mark) -> Page:
    """Return a page with the text of a mark."""
    return Page(mark.url, mark.title, mark.text, prose=mark.text)


if __name__ == "__main__":
    sys.stdout.write(answer(sys.stdin.read()))
