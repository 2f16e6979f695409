"""Cost of scoring a page and a link, compared with jieba and scikit-learn's TfidfVectorizer.

    python -m benchmarks.text [--pages 20] [--seed 1] [--json FILE]

Pages are drawn from jieba's own word list by document frequency, each from its own vocabulary:
10,000 characters (30 kB of UTF-8) with a topic term in every hundredth word. Links are anchors of 8
to 20 characters and as many contexts of 40 to 80, half of them with a topic term, 50 of each for a
page. Each text is scored once, since later scores of it are cached; times are processor time:
``score_page_ms`` for one page, ``score_link_us`` for one anchor, ``score_context_us`` for one
context. Figures without a prefix are those of rjieba.
"""

from __future__ import annotations

import random
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, NamedTuple

from benchmarks.output import command_line, show
from benchmarks.score import LINKS, TERMS, VOCABULARY, Words, milliseconds, sklearn_scorer
from topiccrawl.text.tokens import Tokenizer
from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CHARACTERS = 10_000


class Texts(NamedTuple):
    """Texts to score."""

    pages: list[str]
    anchors: list[str]
    contexts: list[str]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table; with ``--json`` also write our figures and the others' as a flat object."""
    parser = command_line(__doc__, pages=20, seed=1)
    options = parser.parse_args(arguments)
    texts = draw(random.Random(options.seed), options.pages)  # noqa: S311  (repeatable, no secret)
    measured: dict[str, Callable[[Texts], tuple[float, float, float]]] = {
        "": partial(ours, "rjieba"), "jieba_": partial(ours, "jieba"), "sklearn_": theirs,
    }  # fmt: skip
    if find_spec("sklearn") is None:
        del measured["sklearn_"]
    figures: dict[str, float] = {}
    for prefix, measure in measured.items():
        page, anchor, context = measure(texts)
        figures |= {f"{prefix}score_page_ms": page, f"{prefix}score_link_us": anchor}
        figures[f"{prefix}score_context_us"] = context
    show(figures, options.json)


def draw(dice: random.Random, pages: int) -> Texts:
    """Texts of words by their document frequency."""
    words = Words(dice)

    def text(length: int, share: float) -> str:
        return words.text(words.vocabulary(VOCABULARY), length, share)[:length]

    half = pages * LINKS // 2
    return Texts(
        [text(CHARACTERS, 0.01) for _ in range(pages)],
        [text(dice.randint(8, 20), share) for share in (0.0, 0.3) for _ in range(half)],
        [text(dice.randint(40, 80), share) for share in (0.0, 0.1) for _ in range(half)],
    )


def ours(engine: Literal["rjieba", "jieba"], texts: Texts) -> tuple[float, float, float]:
    """Milliseconds a page, microseconds an anchor and a context, by our scorer."""
    topic = Topic(name="benchmark", terms=dict.fromkeys(TERMS, 1.0))
    scorer = Scorer(topic, Tokenizer(engine))
    scorer.score_text("".join(TERMS))  # loads the words
    return each(texts, lambda pages: [scorer.score_text(page) for page in pages], scorer.score_many)


def theirs(texts: Texts) -> tuple[float, float, float]:
    """Return the same for a TfidfVectorizer with jieba, page by page and link by link."""
    score = sklearn_scorer(texts.pages, TERMS)
    return each(texts, score, score)


def each(
    texts: Texts,
    score_pages: Callable[[Sequence[str]], object],
    score_links: Callable[[Sequence[str]], object],
) -> tuple[float, float, float]:
    """Return milliseconds a page, and microseconds an anchor and a context."""
    page = milliseconds(partial(score_pages, texts.pages)) / len(texts.pages)
    anchor = milliseconds(partial(score_links, texts.anchors)) / len(texts.anchors)
    context = milliseconds(partial(score_links, texts.contexts)) / len(texts.contexts)
    return page, 1e3 * anchor, 1e3 * context


if __name__ == "__main__":
    main()
