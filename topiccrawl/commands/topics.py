"""``scrapy topics``: list, show and create topics, show their history, mark pages."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.commands import marking
from topiccrawl.commands.terminal import OperatorCommand, add_topic_option, positive, say, say_or
from topiccrawl.errors import TopicError, translated
from topiccrawl.messages import field, message, tr
from topiccrawl.storage.changes import ChangeLog, TopicChange
from topiccrawl.storage.crawls import CrawlLog
from topiccrawl.storage.factory import storage_of
from topiccrawl.topics.topic import Topic, available, from_examples, from_words, read, resolve
from topiccrawl.userfiles import to_toml

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence


LONGEST = 100
"""Maximum characters of a shown example."""
SHOWN = 12
"""Maximum number of terms in one line of the history."""


class TopicsCommand(OperatorCommand, ScrapyCommand):
    """List, show and create topics, show how crawls changed them, and mark pages."""

    usage = (
        "list | show TOPIC | new FILE.toml WORDS | history [TOPIC]"
        " | mark URL yes|no|none | unsure | marks"
    )
    summary = message("List, show and create topics, show how crawls changed them, and mark pages")

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_topic_option(parser)
        add = parser.add_argument
        text = tr("new: an example of a page on topic; may be repeated")
        add("--like", metavar="URL", action="append", default=[], help=text)
        text = tr("new: an example of a page off topic; may be repeated")
        add("--unlike", metavar="URL", action="append", default=[], help=text)
        add("--limit", type=positive, default=20, help=tr("unsure: pages (default: 20)"))
        text = tr("marks: export as JSON lines, or as a topic file (.toml)")
        add("--export", metavar="FILE", help=text)
        add("--import", metavar="FILE", dest="source", help=tr("marks: import an exported file"))

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        match args:
            case ["list"] | []:
                say(*(f"{name:<28} {own}  {where}" for name, own, where in available()))
            case ["show", argument]:
                topic = resolve(argument)
                say(*describe(topic), *asyncio.run(marking.derived_terms(self.options, topic)))
            case ["new", file, *words] if words or opts.like:
                path = write_new(file, " ".join(words), opts.like, opts.unlike)
                done = tr("wrote {path}; edit it, then: topiccrawl crawl {path}", path=path)
                say(done, *describe(read(path)))
            case ["history", *named] if len(named) <= 1:
                given = named[0] if named else opts.topic
                name = resolve(given).name if given else self.last_crawl(None).topic
                say(*history(name, ChangeLog(storage_of(self.options)).all(name)))
            case ["mark", url, value] if value in marking.WANTED:
                topic, frontier = self._topic(opts.topic)
                say(asyncio.run(marking.mark(self.options, topic, frontier, url, value)))
            case ["unsure"]:
                topic, _ = self._topic(opts.topic)
                rated = asyncio.run(marking.uncertain_pages(self.options, topic, opts.limit))
                none = tr("{topic}: no unmarked page is stored: crawl first", topic=topic.name)
                lines = [f"  {chance:4.0%}  {page.url}  {page.title}" for chance, page in rated]
                say_or(lines, none)
            case ["marks"]:
                topic, _ = self._topic(opts.topic)
                none = tr("{topic}: no page is marked", topic=topic.name)
                say_or(marking.marks(self.options, topic, opts), none)
            case _:
                raise UsageError

    def _topic(self, topic: str | None) -> tuple[Topic, str]:
        """Return the topic of marks, and the frontier of its last crawl ("" without a crawl)."""
        if not topic:
            last = self.last_crawl(None)
            return resolve(last.topic), last.frontier
        found = resolve(topic)
        crawl = CrawlLog(self.folder).last(found.name)
        return found, crawl.frontier if crawl else ""


def write_new(file: str, words: str, like: Sequence[str], unlike: Sequence[str]) -> Path:
    """Write a topic file from words, a sentence or examples.

    Args:
        file: Path of the file; ".toml" is added if it is missing.
        words: Words or a sentence; "" for a topic from examples.
        like: URLs or texts of pages on topic.
        unlike: URLs or texts of pages off topic.

    Returns:
        Path of the written file.

    Raises:
        TopicError: If the topic cannot be parsed, or the file exists or cannot be written.
    """
    path = Path(file if file.endswith(".toml") else f"{file}.toml")
    topic = from_words(words) if words else from_examples(like)
    shown = {"examples": tuple(like), "counterexamples": tuple(unlike)}
    text = to_toml(topic.model_copy(update=shown))
    failed = message("{path}: cannot be written: {strerror}")
    exists = message("{path}: exists: choose another name, or edit it")
    with (
        translated(TopicError, failed, path=path),
        translated(TopicError, exists, (FileExistsError,), path=path),
        path.open("x", encoding="utf-8") as out,
    ):
        out.write(text)
    return path


def describe(topic: Topic) -> list[str]:
    """Return the lines that describe a topic."""
    either = tr(" or ")
    return [
        topic.name,
        *(field("term", f"{term} × {weight:g}") for term, weight in topic.terms.items()),
        *(
            field("synonyms", f"{term}: {', '.join(words)}")
            for term, words in topic.synonyms.items()
        ),
        *(field("not", f"{term} × {weight:g}") for term, weight in topic.negative.items()),
        *(field("needs", either.join(group)) for group in topic.groups),
        *([field("needs", tr("{n} terms", n=topic.min_terms))] if topic.min_terms > 1 else []),
        *(field("must not", word) for word in topic.must_not),
        *(field("like", _brief(example)) for example in topic.examples),
        *(field("unlike", _brief(example)) for example in topic.counterexamples),
        *(field("seed", seed) for seed in topic.seeds),
        *(field("only host", host) for host in topic.allowed_hosts),
        *(field("no host", host) for host in topic.denied_hosts),
        *(field("only URLs", pattern) for pattern in topic.include),
        *(field("no URLs", pattern) for pattern in topic.exclude),
    ]


def _brief(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def history(topic: str, changes: Iterable[TopicChange]) -> list[str]:
    """Return the lines that describe the changes of a topic, oldest first."""
    by_crawl: dict[str, list[TopicChange]] = {}
    for change in changes:
        by_crawl.setdefault(change.frontier, []).append(change)
    lines = [f"{topic}:" if by_crawl else tr("{topic}: no change", topic=topic)]
    for frontier, found in by_crawl.items():
        past = tr(" (started over since)") if frontier.endswith("#") else ""
        lines += [field("crawl", f"{frontier.rstrip('#')}{past}")]
        lines += [field("own terms", _weights(found[0].own))]
        before: list[Mapping[str, float]] = [found[0].own, *(change.terms for change in found)]
        for (old, new), change in zip(pairwise(before), found, strict=True):
            lines += _lines_of(change, old, new)
    return lines


def _lines_of(
    change: TopicChange, old: Mapping[str, float], new: Mapping[str, float]
) -> Iterator[str]:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(change.at))
    yield field("change", f"{change.number:<4} {when}  {change.method}: {change.reason}", 6)
    learned = {term: weight for term, weight in new.items() if term not in change.own}
    yield "  " + field("terms", _weights(learned), 8)
    if added := {term: weight for term, weight in new.items() if term not in old}:
        yield "  " + field("new", _weights(added), 8)
    if removed := [term for term in old if term not in new]:
        yield "  " + field("gone", _shorten(removed), 8)
    if change.lower_limit is not None and change.upper_limit is not None:
        low, high = f"{change.lower_limit:.3f}", f"{change.upper_limit:.3f}"
        yield "  " + field("limits", tr("{low} to {high}", low=low, high=high), 8)


def _weights(terms: Mapping[str, float]) -> str:
    heavy = sorted(terms.items(), key=lambda pair: -pair[1])
    return _shorten([f"{term} {weight:.2f}" for term, weight in heavy])


def _shorten(texts: list[str]) -> str:
    more = len(texts) - SHOWN
    return " · ".join(texts[:SHOWN]) + (tr(" · {more} more", more=more) if more > 0 else "")
