"""Several topics in one crawl: one frontier, each page is fetched once and judged for all."""

from __future__ import annotations

import hashlib
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from topiccrawl.errors import TopicError
from topiccrawl.topics.bounds import Budget
from topiccrawl.topics.examples import example_urls
from topiccrawl.topics.fields import LONGEST_NAME
from topiccrawl.topics.scorer import LOWER_LIMIT, Scorer
from topiccrawl.topics.sitewords import SiteWords
from topiccrawl.topics.topic import Topic, resolve
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from topiccrawl.model import Page, Verdict
    from topiccrawl.topics.contract import Reasons, RelevanceModel

BEST = "relevant", "relevance"
"""Attributes of verdicts by which the topic that fits best is chosen."""

MOST = 50
"""Topics of one crawl; each page is judged for all of them."""


def topics_of(text: str) -> tuple[Topic, ...]:
    """Return the topics of an argument: separated by commas, or the files of a folder.

    Raises:
        TopicError: There are none or too many, two have one name, or one needs a crawl of its own:
            it has no words, examples to fetch, or removes articles by age.
    """
    folder = Path(text.strip())
    listed = sorted(map(str, folder.glob("*.toml"))) if folder.is_dir() else text.split(",")
    found = [resolve(one) for one in map(str.strip, listed) if one]
    if not 0 < len(found) <= MOST:
        raise TopicError(
            "argument topics: {text!r} names {found}: name 1 to {most}",
            text=text,
            found=len(found),
            most=MOST,
        )
    names = [topic.name for topic in found]
    for topic in found:
        if names.count(topic.name) > 1:
            raise TopicError(
                "argument topics: {name!r} is there twice: rename one", name=topic.name
            )
        if not topic.terms:
            raise TopicError(
                "topic {name!r} has no words: crawl for it with -a topic=", name=topic.name
            )
        if topic.retain_days:
            raise TopicError(
                "topic {name!r} has retain_days: crawl for it with -a topic=", name=topic.name
            )
        if any(example_urls(topic)):
            raise TopicError(
                "topic {name!r} has URLs among its examples: give their texts, or crawl for it "
                "with -a topic=",
                name=topic.name,
            )
    return tuple(found)


def union(topics: Sequence[Topic]) -> Topic:
    """Return the topic of a crawl for all: what one of them allows and none of them denies.

    It names the crawl, its seeds, hosts and bounds; pages are judged by ``ManyScorer``.

    >>> both = union([resolve("排球"), resolve("篮球")])
    >>> both.name, list(both.terms)
    ('排球, 篮球', ['排球', '篮球'])
    """
    terms: dict[str, float] = {}
    for term, weight in (pair for topic in topics for pair in topic.terms.items()):
        terms[term] = max(weight, terms.get(term, 0.0))
    return Topic(
        name=", ".join(topic.name for topic in topics)[:LONGEST_NAME].rstrip(),
        terms=dict(TopicVector.of(terms).items()),
        seeds=_once(topic.seeds for topic in topics),
        allowed_hosts=_if_all(topic.allowed_hosts for topic in topics),
        denied_hosts=_once(topic.denied_hosts for topic in topics),
        include=_if_all(topic.include for topic in topics),
        exclude=_once(topic.exclude for topic in topics),
        languages=_once(topic.languages for topic in topics),
        limits=Budget(**{name: _widest(topics, name) for name in Budget.model_fields}),
    )


class ManyScorer:
    """Scorer for several topics: the best one counts, on a common scale. A ``RelevanceModel``.

    A topic's relevance is scaled so that its lower limit becomes the common one.

    Attributes:
        scorers: Scorers by each topic's words, in the order of the topics.
        judges: Judges of pages, in the same order; the scorers until others take their places.

    Args:
        topics: The topics.
        by_site: Words that a site has on all its pages count less (``SiteWords``).
    """

    def __init__(self, topics: Sequence[Topic], *, by_site: bool = False) -> None:
        self.scorers = tuple(Scorer(one, sites=SiteWords() if by_site else None) for one in topics)
        self.judges: list[RelevanceModel] = list(self.scorers)
        self.topic = union(topics)
        self.vector = TopicVector.of_topic(self.topic)
        self.lower_limit = LOWER_LIMIT

    @property
    def version(self) -> int:
        """Number below 2**24 that changes with what one of the topics is scored by."""
        return int(_digest(self.scorers)[-6:], 16)

    def verdicts(
        self, page: Page, names: Container[str] | None = None
    ) -> list[tuple[Topic, Verdict]]:
        """Return the verdict of each topic, or of those with names, relevance on the common scale.

        Args:
            page: The page.
            names: Names of topics; None for all.
        """
        found = [
            (one, judge.score_page(page))
            for one, judge in zip(self.scorers, self.judges, strict=True)
            if names is None or one.topic.name in names
        ]
        return [
            (one.topic, verdict._replace(relevance=self._scale(one, verdict.relevance)))
            for one, verdict in found
        ]

    def topics_on(self, page: Page, verdict: Verdict) -> list[tuple[Topic, float]]:  # noqa: ARG002
        """Return the topics that a page is on, each with its relevance; see ``Scorer``."""
        return [(topic, one.relevance) for topic, one in self.verdicts(page) if one.relevant]

    def score_page(self, page: Page) -> Verdict:
        """Return the verdict of the topic that fits best; relevant ones come first."""
        return max((one for _, one in self.verdicts(page)), key=attrgetter(*BEST))

    def explain(self, page: Page) -> Reasons:
        """Return the terms of the topic that fits best, each with its summand."""
        return self.score_page(page).terms

    def signature(self) -> str:
        """Return a text that changes with each topic."""
        return f"many-{_digest(self.judges)}"

    def observe(self, page: Page) -> None:
        """Count the page for its site, once a page."""
        for one in self.scorers:
            one.observe(page)

    def score_many(self, texts: Sequence[str]) -> list[float]:
        """Return each text's similarity to the topic that fits it best, in [0, 1]."""
        by_topic = ([self._scale(one, r) for r in one.score_many(texts)] for one in self.scorers)
        return [max(scores) for scores in zip(*by_topic, strict=True)]

    def contains(self, text: str) -> bool:
        """Return whether the text contains a keyword of one of the topics."""
        return any(one.contains(text) for one in self.scorers)

    def _scale(self, scorer: Scorer, relevance: float) -> float:
        if scorer.lower_limit == self.lower_limit or not scorer.lower_limit:
            return relevance
        return min(1.0, relevance * self.lower_limit / scorer.lower_limit)


def _digest(models: Sequence[RelevanceModel]) -> str:
    """Return twelve hexadecimal digits that change with each model."""
    signatures = " ".join(one.signature() for one in models)
    return hashlib.sha256(signatures.encode()).hexdigest()[:12]


def _once(parts: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for part in parts for one in part))


def _if_all(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return all values; () where one part is empty, which allows everything."""
    found = list(parts)
    return _once(found) if all(found) else ()


def _widest(topics: Sequence[Topic], name: str) -> int | None:
    """Return the widest of a bound; 0 is none, None leaves the settings as they are."""
    bounds = [bound for t in topics if (bound := getattr(t.limits, name)) is not None]
    return (0 if 0 in bounds else max(bounds)) if bounds else None
