"""``scrapy frontier stats|list|export|import|forget|requeue``: show and edit a frontier."""

from __future__ import annotations

import gzip
import sys
import time
import zlib
from contextlib import ExitStack, closing
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO, cast

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.addons.queue_admin.export import entries as entries_of
from topiccrawl.addons.queue_admin.export import to_line
from topiccrawl.commands.terminal import OperatorCommand, add_topic_option, count, say
from topiccrawl.commands.why import KINDS, QUEUE_LABELS
from topiccrawl.errors import StateError, StorageError, translated
from topiccrawl.frontier.entries import About, Entry
from topiccrawl.frontier.queues import SIZES
from topiccrawl.frontier.view import QUEUES
from topiccrawl.links.strategies import stored_strategy
from topiccrawl.links.urls import canonical
from topiccrawl.messages import message, tr
from topiccrawl.scheduler.frontiers import frontiers_of, read_frontier
from topiccrawl.scheduler.review import cause
from topiccrawl.storage.crawls import CrawlLog
from topiccrawl.storage.formats import atomic_output
from topiccrawl.topics.topic import resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from scrapy.settings import BaseSettings

    from topiccrawl.frontier.contract import Frontier, Reader


_COUNTERS = {**QUEUE_LABELS, "known": message("all recorded URLs")}
"""Descriptions of counters by name."""


class Command(OperatorCommand, ScrapyCommand):
    """Show, export, import and edit the frontier of a crawl."""

    usage = (
        "[options] stats | list QUEUE | export FILE | import FILE | forget URL... | "
        "requeue [URL...]"
    )
    summary = message("Show, export or import the queues of a crawl; delete or requeue single URLs")
    details = message(
        "stats: sizes of the queues, errors by reason. list: URLs of prior, normal, leased, "
        "crawled or error, with value and reason. export: all that another machine needs to "
        "continue, as JSON lines (FILE may end in .gz; - is standard output), even while a crawl "
        "runs. import: into a frontier that does not exist yet. forget: delete the record of a "
        "URL. requeue: fetch URLs again; with --reason, all URLs with that error."
    )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_topic_option(parser)
        text = tr("list: maximum number of URLs")
        parser.add_argument("-n", dest="most", type=count, default=0, help=text)
        parser.add_argument("--reason", help=tr("list, requeue: only errors with this reason"))

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        deleted = message("{changed} of {number} deleted")
        requeued = message("{changed} of {number} requeued")
        match args:
            case ["stats"]:
                self._stats(opts)
            case ["list", queue] if queue in QUEUES:
                self._list(queue, opts)
            case ["export", name]:
                self._export(name, opts)
            case ["import", name]:
                self._import(name, opts)
            case ["forget", _, *_]:
                self._change(args[1:], opts, lambda frontier: frontier.forget, deleted)
            case ["requeue", *urls] if bool(urls) != bool(opts.reason):
                wanted = urls or [url for url, _, _ in self._queued("error", opts)]
                self._change(wanted, opts, lambda frontier: frontier.requeue, requeued)
            case _:
                raise UsageError

    def _reader(self, opts: argparse.Namespace) -> Reader:
        return read_frontier(self.last_crawl(opts.topic).frontier, self.options)

    def _stats(self, opts: argparse.Namespace) -> None:
        with closing(self._reader(opts)) as frontier:
            counts = frontier.counts()
        names = (*SIZES, *sorted(counts.keys() - {*SIZES}))
        say(*(f"{name:<24} {counts[name]:>12,}  {_described(name)}".rstrip() for name in names))

    def _list(self, queue: str, opts: argparse.Namespace) -> None:
        for url, value, reason in islice(self._queued(queue, opts), opts.most or None):
            name = tr(reason) if reason in KINDS else reason
            text = f"{value:.4f}  {url}{f'  ({name})' if reason else ''}"
            say(f"{text}  {_described(reason)}".rstrip())

    def _queued(self, queue: str, opts: argparse.Namespace) -> Iterator[tuple[str, float, str]]:
        """Yield URL, value and reason of the entries of a queue, with the reason of the options."""
        with closing(self._reader(opts)) as frontier:
            for found in frontier.iterate(queue):
                if opts.reason in {None, "", found[2]}:
                    yield found

    def _change(
        self, urls: list[str], opts: argparse.Namespace,
        method: Callable[[Frontier], Callable[[str], bool]], done: str,
    ) -> None:  # fmt: skip
        changed, place = 0, self.last_crawl(opts.topic).frontier
        with closing(frontiers_of(self.options, place).edit(place)) as frontier:
            for url in urls:
                if method(frontier)(canonical(url) or url):
                    changed += 1
                elif not opts.reason:
                    say(tr("{url}: not recorded, or nothing to change", url=url))
        say(tr(done, changed=changed, number=len(urls)))
        self.exitcode = 0 if changed else 1

    def _export(self, name: str, opts: argparse.Namespace) -> None:
        with closing(self._reader(opts)) as frontier:
            entries = frontier.export()
            if name == "-":
                for entry in entries:
                    say(to_line(entry).rstrip("\n"))
                return
            with atomic_output(Path(name)) as part, _opened(part, "wt", name) as file:
                file.writelines(map(to_line, entries))

    def _import(self, name: str, opts: argparse.Namespace) -> None:
        text = message("{name}: cannot be read: {error}")
        causes = (OSError, EOFError, UnicodeDecodeError, zlib.error)
        with (
            translated(StorageError, text, causes, name=name),
            sys.stdin if name == "-" else _opened(Path(name), "rt", name) as file,
        ):
            self._load(entries_of(name, file), opts)

    def _load(self, entries: Iterator[Entry], opts: argparse.Namespace) -> None:
        about = next(entries, None)
        if not isinstance(about, About):
            raise StateError("not a frontier export: the first line must have kind 'frontier'")
        started = time.time()
        owner, place = self._destination(about, opts.topic)
        known = _fill(place, self.options, owner, about, entries)
        log = CrawlLog(self.folder)
        log.finish(log.begin(owner, place, started), "imported", time.time())
        say(tr("imported {known:,} URLs of {owner}; start its crawl", known=known, owner=owner))

    def _destination(self, about: About, topic: str | None) -> tuple[str, str]:
        """Return owner and place of the frontier, for ``topic`` or the topic of the export."""
        name = topic or about.owner
        if not name:
            raise StateError("the export has no topic: name it with --topic")
        if not topic and name.startswith("spider-"):
            return name, frontiers_of(self.options).place(name)
        if not topic and name.endswith(".toml"):
            raise StateError("the topic of the export is a file: name it with --topic")
        chosen = resolve(name)
        return chosen.name, frontiers_of(self.options).place(chosen.slug)


def _described(name: str) -> str:
    """Return the description of a counter or of the reason of an error; "" if there is none."""
    if name in _COUNTERS:
        return tr(_COUNTERS[name])
    reason = name.removeprefix("error/")
    return "" if (text := cause(reason)) == reason else text


def _fill(
    place: str, settings: BaseSettings, owner: str, about: About, entries: Iterator[Entry]
) -> int:
    """Load an export into a new frontier; delete the frontier if the export is incomplete."""
    if "." in about.strategy and about.strategy != settings["TOPICCRAWL_STRATEGY"]:
        raise StateError(
            "the export needs a custom strategy: -s TOPICCRAWL_STRATEGY={strategy}",
            strategy=about.strategy,
        )  # a file must not choose the code that is imported
    frontiers, strategy = frontiers_of(settings, place), stored_strategy(about.strategy)
    with ExitStack() as undo, closing(frontiers.new(place, strategy, owner)) as frontier:
        if frontier.counts()["known"]:
            raise StateError(
                "{place}: is not empty; set another TOPICCRAWL_DATA_DIR or REDIS_URL",
                place=place,
            )
        undo.callback(frontiers.discard, place)
        known = frontier.load(chain([about], entries))
        undo.pop_all()
    return known


def _opened(path: Path, mode: Literal["rt", "wt"], name: str) -> TextIO:
    """Open a file, compressed if its name ends in .gz."""
    opened = gzip.open if name.endswith(".gz") else open
    return cast("TextIO", opened(path, mode, encoding="utf-8"))
