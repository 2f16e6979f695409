"""Training of the marks model in a subprocess: ``python -m topiccrawl.topics.learning``.

Topic, marks and background are read as JSON from standard input. The learned part of the model is
written to standard output; it is empty if there are too few marks.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from topiccrawl.model import Mark
from topiccrawl.topics.marks import MarkedModel, as_page, learn
from topiccrawl.topics.scorer import Scorer
from topiccrawl.topics.sitewords import SiteWords
from topiccrawl.topics.topic import Topic
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from collections.abc import Iterable


def request(scorer: Scorer, marks: Iterable[Mark], background: Iterable[Mark]) -> str:
    """Return the input of the subprocess."""
    return json.dumps(
        {
            "topic": scorer.topic.model_dump(mode="json"),
            "terms": dict(scorer.vector.items()),
            "marks": [mark._asdict() for mark in marks],
            "background": [page._asdict() for page in background],
        }
    )


def response(text: str) -> str:
    """Return the output of the subprocess for its input."""
    values = json.loads(text)
    marks, background = ([Mark(**one) for one in values[name]] for name in ("marks", "background"))
    topic, vector = Topic.model_validate(values["topic"]), TopicVector.of(values["terms"])
    scorer = Scorer(topic, vector=vector, sites=SiteWords())
    for page in background:
        scorer.observe(as_page(page))
    model = learn(scorer, marks, background)
    return model.to_json() if isinstance(model, MarkedModel) else ""


if __name__ == "__main__":
    sys.stdout.write(response(sys.stdin.read()))
