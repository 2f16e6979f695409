"""Cost of scoring a page and a link, compared with jieba and scikit-learn's TfidfVectorizer.

    python -m benchmarks.text [--pages 20] [--seed 1] [--json FILE]

Pages are drawn from jieba's own word list by document frequency, each from a vocabulary of its
own: 10,000 characters (30 kB of
UTF-8) with a topic term in every hundredth word. Links are anchors of 8 to 20 characters and as
many contexts of 40 to 80, half of them with a topic term, 50 of each in a batch. Times are the
best of five rounds, after one that fills caches: ``score_page_ms`` for one page,
``score_link_us`` for one anchor, ``score_context_us`` for one context.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.text.idf import chinese_table
from topiccrawl.text.normal import simplify
from topiccrawl.text.tokens import Tokenizer
from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TERMS = ("新能源", "汽车", "新能源汽车", "充电桩", "动力电池")
CHARACTERS = 10_000
VOCABULARY = 1_500
"""Words of which a text is drawn: a real page of this length has about 1,500 different ones."""
LINKS = 50
ROUNDS = 5


class Texts(NamedTuple):
    """Texts to score."""

    pages: list[str]
    anchors: list[str]
    contexts: list[str]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table; with ``--json`` also write our figures and the others' as a flat object."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    texts = draw(random.Random(options.seed), options.pages)  # noqa: S311  (repeatable, no secret)
    figures: dict[str, float] = {}
    for name, prefix, measured in (
        ("topiccrawl (rjieba)", "", partial(ours, "rjieba")),
        ("topiccrawl (jieba)", "jieba_", partial(ours, "jieba")),
        ("jieba + TfidfVectorizer", "sklearn_", theirs),
    ):
        if prefix == "sklearn_" and find_spec("sklearn") is None:
            say(f"{name:26} scikit-learn is not installed")
            continue
        page, anchor, context = measured(texts)
        say(f"{name:26} {page:8.2f} ms a page {anchor:8.1f} µs an anchor {context:8.1f} a context")
        figures |= {f"{prefix}score_page_ms": page, f"{prefix}score_link_us": anchor}
        figures[f"{prefix}score_context_us"] = context
    if options.json:
        options.json.write_text(json.dumps({k: round(v, 3) for k, v in figures.items()}) + "\n")


def draw(dice: random.Random, pages: int) -> Texts:
    """Texts of words by their document frequency."""
    table = chinese_table()
    words = [word for word in table if simplify(word) == word]
    weights = [math.exp(-table[word]) for word in words]

    def text(length: int, share: float) -> str:
        drawn = dice.choices(dice.choices(words, weights, k=VOCABULARY), k=length)
        marks = ("", "", "", "", "，", "", "", "的", "。")
        topical = [dice.choice(TERMS) if dice.random() < share else word for word in drawn]
        return "".join(word + dice.choice(marks) for word in topical)[:length]

    half = LINKS // 2
    return Texts(
        [text(CHARACTERS, 0.01) for _ in range(pages)],
        [text(dice.randint(8, 20), share) for share in (0.0, 0.3) for _ in range(half)],
        [text(dice.randint(40, 80), share) for share in (0.0, 0.1) for _ in range(half)],
    )


def ours(engine: str, texts: Texts) -> tuple[float, float, float]:
    """Milliseconds a page, microseconds an anchor and a context, by our scorer."""
    topic = Topic(name="benchmark", terms=dict.fromkeys(TERMS, 1.0))
    scorer = Scorer(topic, Tokenizer("rjieba" if engine == "rjieba" else "jieba"))
    return (
        best(lambda: [scorer.score_text(page) for page in texts.pages]) / len(texts.pages) * 1e3,
        best(lambda: scorer.score_many(texts.anchors)) / LINKS * 1e6,
        best(lambda: scorer.score_many(texts.contexts)) / LINKS * 1e6,
    )


def theirs(texts: Texts) -> tuple[float, float, float]:
    """The same by a TfidfVectorizer over jieba, page by page and link by link."""
    import jieba  # noqa: PLC0415  (a second and 100 MB that the rest does not need)
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

    jieba.setLogLevel("WARNING")
    vectorizer = TfidfVectorizer(tokenizer=jieba.lcut, token_pattern=None).fit(texts.pages)
    topic = vectorizer.transform([" ".join(TERMS)]).T

    def score(items: list[str]) -> None:
        for item in items:
            (vectorizer.transform([item]) @ topic).sum()

    return (
        best(lambda: score(texts.pages)) / len(texts.pages) * 1e3,
        best(lambda: score(texts.anchors)) / LINKS * 1e6,
        best(lambda: score(texts.contexts)) / LINKS * 1e6,
    )


def best(work: Callable[[], object]) -> float:
    """Seconds of the fastest of several rounds."""
    work()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def say(line: str) -> None:
    """Print a line of the table."""
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
