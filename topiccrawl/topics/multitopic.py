"""Several topics in one crawl: each page is fetched once and scored for all topics."""

from __future__ import annotations

import hashlib
import re
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from topiccrawl.errors import TopicError
from topiccrawl.topics.fields import MAX_NAME_LENGTH, Budget
from topiccrawl.topics.marks import example_urls
from topiccrawl.topics.scorer import LOWER_LIMIT, Scorer
from topiccrawl.topics.sitewords import SiteWords
from topiccrawl.topics.topic import Topic, resolve
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from topiccrawl.model import Page, Verdict
    from topiccrawl.topics.contract import Reasons, RelevanceModel

BEST_KEY = "relevant", "relevance"
"""Attributes of verdicts by which the best topic is chosen."""

MAX_TOPICS = 50
"""Most topics of one crawl; each page is scored for all of them."""

_SEPARATOR = re.compile("[,;，；、]")


def parse_topics(text: str) -> tuple[Topic, ...]:
    """Parse an argument with several topics: separated by commas, or the files of a folder.

    Raises:
        TopicError: The folder is missing, there are no topics or too many, two have the same name,
            or a topic needs a separate crawl: it has no words, has examples to fetch, or removes
            articles by age.
    """
    found = [resolve(one) for one in map(str.strip, _names(text)) if one]
    if not 0 < len(found) <= MAX_TOPICS:
        raise TopicError(
            "argument topics: {text!r} names {found}: name 1 to {most}",
            text=text,
            found=len(found),
            most=MAX_TOPICS,
        )
    names = [topic.name for topic in found]
    for topic in found:
        if names.count(topic.name) > 1:
            raise TopicError("argument topics: {name!r} occurs twice: rename one", name=topic.name)
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


def _names(text: str) -> list[str]:
    folder = Path(text.strip())
    if folder.is_dir():
        return sorted(map(str, folder.glob("*.toml")))
    if text.rstrip().endswith("/"):
        raise TopicError("argument topics: there is no folder {text!r}", text=text)
    return _SEPARATOR.split(text)


def merge_topics(topics: Sequence[Topic]) -> Topic:
    """Merge topics to one topic of a crawl: it allows what any topic allows and none denies.

    The merged topic gives name, seeds, hosts and limits of the crawl. Pages are scored by
    ``MultiScorer``.

    >>> both = merge_topics([resolve("排球"), resolve("篮球")])
    >>> both.name, list(both.terms)
    ('排球, 篮球', ['排球', '篮球'])
    """
    terms: dict[str, float] = {}
    for term, weight in (pair for topic in topics for pair in topic.terms.items()):
        terms[term] = max(weight, terms.get(term, 0.0))
    return Topic(
        name=", ".join(topic.name for topic in topics)[:MAX_NAME_LENGTH].rstrip(),
        terms=dict(TopicVector.of(terms).items()),
        seeds=_distinct(topic.seeds for topic in topics),
        allowed_hosts=_distinct_if_all(topic.allowed_hosts for topic in topics),
        denied_hosts=_distinct(topic.denied_hosts for topic in topics),
        include=_distinct_if_all(topic.include for topic in topics),
        exclude=_distinct(topic.exclude for topic in topics),
        languages=_distinct(topic.languages for topic in topics),
        limits=Budget(**{name: _largest_limit(topics, name) for name in Budget.model_fields}),
    )


class MultiScorer:
    """Scorer for several topics; the best topic counts. A ``RelevanceModel``.

    The relevance of each topic is scaled so that its lower limit equals the common lower limit.

    Attributes:
        scorers: Scorers by topic words, in the order of the topics.
        judges: Relevance models of pages, in the same order; the scorers unless replaced.

    Args:
        topics: The topics.
        by_site: Reduce the weight of words that are on all pages of a site (``SiteWords``).
    """

    def __init__(self, topics: Sequence[Topic], *, by_site: bool = False) -> None:
        self.scorers = tuple(Scorer(one, sites=SiteWords() if by_site else None) for one in topics)
        self.judges: list[RelevanceModel] = list(self.scorers)
        self.topic = merge_topics(topics)
        self.vector = TopicVector.of_topic(self.topic)
        self.lower_limit = LOWER_LIMIT

    @property
    def version(self) -> int:
        """Number below 2**24 that changes with the scorer of any topic."""
        return int(_digest(self.scorers)[-6:], 16)

    def verdicts(
        self, page: Page, names: Container[str] | None = None
    ) -> list[tuple[Topic, Verdict]]:
        """Return the verdicts of topics, with relevance on the common scale.

        Args:
            page: The page.
            names: Names of topics to score; None for all.
        """
        found = [
            (one, judge.score_page(page))
            for one, judge in zip(self.scorers, self.judges, strict=True)
            if names is None or one.topic.name in names
        ]
        return [(one.topic, self._on_common_scale(one, verdict)) for one, verdict in found]

    def topics_on(self, page: Page, verdict: Verdict) -> list[tuple[Topic, float]]:  # noqa: ARG002
        """Return the topics for which a page is relevant, with relevance; see ``Scorer``."""
        return [(topic, one.relevance) for topic, one in self.verdicts(page) if one.relevant]

    def score_page(self, page: Page) -> Verdict:
        """Return the verdict of the best topic; relevant verdicts come first."""
        found = [one for _, one in self.verdicts(page)]
        best = max(found, key=attrgetter(*BEST_KEY))
        if all(one.by_words is None for one in found):
            return best
        by_words = max((one.for_links for one in found), key=attrgetter(*BEST_KEY))
        return best._replace(by_words=by_words)

    def explain(self, page: Page) -> Reasons:
        """Return the terms of the best topic with their contributions."""
        return self.score_page(page).terms

    def signature(self) -> str:
        """Return a text that identifies the models of all topics."""
        return f"many-{_digest(self.judges)}"

    def observe(self, page: Page) -> None:
        """Count the page in the site statistics; call it once for each page."""
        for one in self.scorers:
            one.observe(page)

    def score_many(self, texts: Sequence[str]) -> list[float]:
        """Return the similarity of each text to its best topic, in [0, 1]."""
        by_topic = ([self._scale(one, r) for r in one.score_many(texts)] for one in self.scorers)
        return [max(scores) for scores in zip(*by_topic, strict=True)]

    def contains(self, text: str) -> bool:
        """Return whether the text contains a keyword of any topic."""
        return any(one.contains(text) for one in self.scorers)

    def _on_common_scale(self, scorer: Scorer, verdict: Verdict) -> Verdict:
        by_words = verdict.by_words and self._on_common_scale(scorer, verdict.by_words)
        relevance = self._scale(scorer, verdict.relevance)
        return verdict._replace(relevance=relevance, by_words=by_words)

    def _scale(self, scorer: Scorer, relevance: float) -> float:
        if scorer.lower_limit == self.lower_limit or not scorer.lower_limit:
            return relevance
        return min(1.0, relevance * self.lower_limit / scorer.lower_limit)


def _digest(models: Sequence[RelevanceModel]) -> str:
    """Return twelve hexadecimal digits that identify the models."""
    signatures = " ".join(one.signature() for one in models)
    return hashlib.sha256(signatures.encode()).hexdigest()[:12]


def _distinct(parts: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for part in parts for one in part))


def _distinct_if_all(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return all values; () if one part is empty, since that allows everything."""
    found = list(parts)
    return _distinct(found) if all(found) else ()


def _largest_limit(topics: Sequence[Topic], name: str) -> int | None:
    """Return the largest value of a limit; 0 is no limit, None keeps the setting."""
    bounds = [bound for t in topics if (bound := getattr(t.limits, name)) is not None]
    return (0 if 0 in bounds else max(bounds)) if bounds else None
