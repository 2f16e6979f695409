"""Cost of a page from its bytes to scored links, beside jieba with scikit-learn.

    python -m benchmarks.score [--pages FILE] [--limit 100] [--seed 1] [--json FILE]

A page is decoded, parsed, segmented and scored, and the default strategy offers its links, as in
the spider. Pages made here have 30 kB of UTF-8 and 50 links, 20 in a menu that all share, 20 in a
list, 10 in running text; words of jieba's list by document frequency, half of them of the page's
own; a topic term in every hundredth word and in every third link. FILE is a collection (see
``topiccrawl.addons.simulate.collection``): its pages nearest 30 kB are taken, and five words that
many of them contain are the topic, since a page without any is never segmented.

Half of the pages warm the caches; each of the others is timed once, the first time it is processed,
as in a crawl. Times are processor time. The others do less: the page's text and its links' anchors,
one by one, already parsed.

``matcher_rank_correlation``: of what links are scored by and the page cosine, over all anchors and
contexts with a term (Spearman; the others score 0 by either); ``counting_rank_correlation``: of a
matcher that takes the length of a text for its norm, which would save the segmentation.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections import Counter
from functools import partial
from itertools import accumulate
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.output import command_line, show
from topiccrawl.addons.simulate.collection import RecordedWeb
from topiccrawl.links.page import read_page
from topiccrawl.links.strategies import DEFAULT, strategy
from topiccrawl.links.strategies.link_texts import block_texts
from topiccrawl.text.decode import decode
from topiccrawl.text.idf import chinese_table, corpus_idf
from topiccrawl.text.matching import TermMatcher, count
from topiccrawl.text.normal import fold, simplify
from topiccrawl.text.tokens import shared_tokenizer
from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.model import Page

TERMS = ("新能源", "汽车", "新能源汽车", "充电桩", "动力电池")
SIZE = 30_000
"""Bytes of a page."""
LINKS = 50
MENU = 20
WITHIN = 10
"""Links in running text; the others are in a list."""
VOCABULARY = 1_500
"""Vocabulary of a page: a real page of this length has about 1,500 different words."""
COMMON = (0.3, 0.7)
"""Share of a collection's pages that contain a word of its topic."""
SLOW_PAGES = 15
"""Pages for which jieba with scikit-learn is timed."""


class Source(NamedTuple):
    """A page as received from the network."""

    url: str
    content_type: str
    body: bytes


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; with ``--json`` also write the figures as a flat object."""
    parser = command_line(__doc__, limit=100, seed=1)
    parser.add_argument("--pages", type=Path, help="collection; else pages made here")
    options = parser.parse_args(arguments)
    count_ = 2 * max(2, options.limit)
    if options.pages:
        sources = nearest(RecordedWeb.read(options.pages), count_)
        topic = common_topic(sources)
    else:
        sources = list(made_up(random.Random(options.seed), count_))  # noqa: S311  (repeatable)
        topic = Topic(name="benchmark", terms=dict.fromkeys(TERMS, 1.0))
    print("topic", *topic.terms, file=sys.stderr)
    show(figures(sources, topic), options.json)
    return 0


def made_up(dice: random.Random, pages: int) -> Iterator[Source]:
    """Yield pages of ``SIZE`` bytes with ``LINKS`` links."""
    words = Words(dice)
    everyday = words.vocabulary(VOCABULARY)
    menu = "".join(
        f'<li><a href="/c{n}/">{"".join(dice.choices(everyday, k=2))}</a></li>' for n in range(MENU)
    )
    for number in range(pages):
        own = everyday[: VOCABULARY // 2] + words.vocabulary(VOCABULARY // 2)
        yield Source(
            f"http://s{number % 7}.test/news/{number}.html",
            "text/html; charset=utf-8",
            _made_page(words, own, menu).encode(),
        )


class Words:
    """Simplified Chinese words, drawn by their document frequency.

    Args:
        dice: Random generator.
    """

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        table = chinese_table()
        self._words = [word for word in table if simplify(word) == word]
        self._sums = list(accumulate(math.exp(-table[word]) for word in self._words))

    def vocabulary(self, size: int) -> list[str]:
        """Draw words, frequent ones more often."""
        return self.dice.choices(self._words, cum_weights=self._sums, k=size)

    def text(self, own: Sequence[str], words: int, share: float) -> str:
        """Return a text of the words ``own``, a share of them replaced by terms of the topic."""
        dice, marks = self.dice, ("", "", "", "", "，", "", "", "的", "。")
        drawn = dice.choices(own, k=words)
        topical = [dice.choice(TERMS) if dice.random() < share else word for word in drawn]
        return "".join(word + dice.choice(marks) for word in topical)


def _made_page(made: Words, own: Sequence[str], menu: str) -> str:
    text = partial(made.text, own)

    def link() -> str:
        return f'<a href="/2026/{made.dice.randrange(10**7)}.html">{text(7, 0.05)}</a>'

    listed = "".join(f"<li>{link()}</li>\n" for _ in range(LINKS - MENU - WITHIN))
    head = (
        f"<html><head><title>{text(6, 0.1)}</title></head><body><ul>{menu}</ul>\n"
        f"<h1>{text(6, 0.1)}</h1>\n"
    )
    paragraphs: list[str] = []
    room = SIZE - len((head + listed).encode()) - 100
    while (used := sum(len(p.encode()) for p in paragraphs)) < room:
        inside = link() if len(paragraphs) % 3 == 0 and len(paragraphs) < 3 * WITHIN else ""
        words = min(50, (room - used) // 8 + 1)
        paragraphs.append(f"<p>{text(words // 2, 0.01)}{inside}{text(words // 2 + 1, 0.01)}</p>\n")
    return f"{head}<div>{''.join(paragraphs)}</div><h2>相关</h2><ul>{listed}</ul></body></html>"


def nearest(web: RecordedWeb, pages: int) -> list[Source]:
    """Return the readable pages of a collection whose size is nearest ``SIZE``, in its order."""
    readable = [(name, page) for name, page in web.pages.items() if web.page(name)]
    chosen = sorted(readable, key=lambda pair: abs(math.log(max(1, len(pair[1].body)) / SIZE)))
    names = {name for name, _ in chosen[:pages]}
    return [
        Source(page.url, next(iter(page.header("Content-Type")), ""), page.body)
        for name, page in readable
        if name in names
    ]


def common_topic(sources: Sequence[Source]) -> Topic:
    """Return a topic of five words that occur in ``COMMON`` of the pages and are rare elsewhere."""
    words = shared_tokenizer().words
    present = Counter(
        word
        for source in sources
        for word in set(words(Scorer.judged_text(read(source))))
        if not word.isdigit()
    )
    low, high = (share * len(sources) for share in COMMON)
    common = [word for word, times in present.items() if low <= times <= high]
    chosen = sorted(common, key=lambda word: (-corpus_idf()(word), word))[:5]
    return Topic(name="benchmark", terms=dict.fromkeys(chosen or ["news"], 1.0))


def read(source: Source) -> Page:
    """Return the page, decoded and parsed."""
    decoded = decode(source.body, source.content_type)
    return read_page(decoded.text, source.url, (), decoded.encoding)


TAUGHT = 5
"""Links per page from which the strategy learns words before it is timed, as in a crawl."""


class Timed(NamedTuple):
    """Milliseconds of processor time per page."""

    parse: float
    page: float
    links: float

    @property
    def total(self) -> float:
        """Return the sum of the parts."""
        return sum(self)


def timed(source: Source, scorer: Scorer, order: LinkStrategy) -> Timed:
    """Return what one page costs: decoding and parsing, its own score, its links' scores."""
    start = time.process_time()
    page = read(source)
    parsed = time.process_time()
    verdict = scorer.score_page(page)
    judged = time.process_time()
    order.offers(verdict, (), page.links)
    end = time.process_time()
    return Timed(*(1e3 * s for s in (parsed - start, judged - parsed, end - judged)))


def figures(sources: Sequence[Source], topic: Topic) -> dict[str, float]:
    """Return all figures as one flat object."""
    scorer = Scorer(topic)
    order = strategy(DEFAULT, scorer)
    half = len(sources) // 2
    for source in sources[:half]:
        timed(source, scorer, order)
        for link in read(source).links[:TAUGHT]:
            order.learn(link.anchor, link.context, 0.1)
    times = [timed(source, scorer, order) for source in sources[half:]]
    totals = [t.total for t in times]
    pages = [read(source) for source in sources[half:]]
    return {
        "score_page_ms": median(totals),
        "score_page_p95_ms": quantiles(totals, n=20)[-1],
        "parse_ms": median(t.parse for t in times),
        "page_ms": median(t.page for t in times),
        "links_ms": median(t.links for t in times),
        "pages": len(times),
        "page_kb": sum(len(source.body) for source in sources[half:]) / half / 1000,
        "links_per_page": sum(len(page.links) for page in pages) / half,
        "pages_with_terms": sum(bool(scorer.score_page(page).terms) for page in pages) / half,
        **sklearn_figures(pages, topic),
        **correlations(pages, scorer),
    }


def sklearn_figures(pages: Sequence[Page], topic: Topic) -> dict[str, float]:
    """Return what a TfidfVectorizer over jieba costs for the text of a page and for its anchors."""
    pages = pages[:SLOW_PAGES]
    score = sklearn_scorer([page.text for page in pages], topic.terms)
    page_ms = median(milliseconds(partial(score, [page.text])) for page in pages)
    anchors = [[link.anchor for link in page.links] for page in pages]
    links_ms = median(milliseconds(partial(score, texts)) for texts in anchors)
    return {
        "sklearn_score_page_ms": page_ms + links_ms,
        "sklearn_page_ms": page_ms,
        "sklearn_links_ms": links_ms,
    }


def sklearn_scorer(known: Sequence[str], terms: Iterable[str]) -> Callable[[Sequence[str]], None]:
    """Return a function that scores texts, one by one, by a TfidfVectorizer over jieba."""
    import jieba  # noqa: PLC0415  (a second and 100 MB that the rest does not need)
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

    jieba.setLogLevel("WARNING")
    vectorizer = TfidfVectorizer(tokenizer=jieba.lcut, token_pattern=None).fit(known)
    wanted = vectorizer.transform([" ".join(terms)]).T

    def score(texts: Sequence[str]) -> None:
        for text in texts:
            (vectorizer.transform([text]) @ wanted).sum()

    return score


def milliseconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work, done once: later runs would find cached results."""
    start = time.process_time()
    work()
    return 1e3 * (time.process_time() - start)


def correlations(pages: Sequence[Page], scorer: Scorer) -> dict[str, float]:
    """Return how far scores of links agree in rank with the page cosine of the same texts."""
    known = sorted({text for page in pages for text in link_texts(page)})
    texts = [text for text in known if scorer.score_text(text).terms]
    cosine = [scorer.score_text(text).relevance for text in texts]
    return {
        "link_texts": len(known),
        "link_texts_with_terms": len(texts),
        "matcher_rank_correlation": _rank(scorer.score_many(texts), cosine),
        "counting_rank_correlation": _rank(counted(texts, scorer), cosine),
    }


def link_texts(page: Page) -> Iterator[str]:
    """Yield the anchors and contexts that a strategy scores."""
    blocks = block_texts(page.links)
    for link in page.links:
        yield link.anchor
        yield blocks.get(link.block, link.context)


def counted(texts: Sequence[str], scorer: Scorer) -> list[float]:
    """Return the scores of a matcher: terms counted, the norm from the length of the text."""
    matcher = TermMatcher(scorer.vector.terms, {})
    pairs = list(scorer.vector.items())

    def score(text: str) -> float:
        found = count(matcher.surfaces, text)
        dot = sum(
            pairs[term][1] * corpus_idf()(pairs[term][0]) * math.sqrt(times)
            for term, times in found.items()
        )
        return max(0.0, dot) / math.sqrt(len(text) or 1)

    return [score(fold(text)) for text in texts]


def _rank(scores: Sequence[float], others: Sequence[float]) -> float:
    """Spearman's rank correlation; 1 where neither differs."""
    if max(scores, default=0.0) == min(scores, default=0.0):
        return 1.0
    from scipy.stats import spearmanr  # noqa: PLC0415 - loads slowly, and tests import this module

    return float(spearmanr(scores, others).statistic)


if __name__ == "__main__":
    sys.exit(main())
