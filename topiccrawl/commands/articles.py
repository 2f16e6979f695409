"""``scrapy articles list|show|search|events|changes|export|forget``: stored articles."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import AbstractAsyncContextManager, aclosing
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.commands import changes
from topiccrawl.commands.terminal import OperatorCommand, add_topic_option, count, say, score
from topiccrawl.errors import ConfigurationError, StateError
from topiccrawl.links.urls import canonical
from topiccrawl.messages import NameList, message, tr
from topiccrawl.scheduler.hooks import components, spider_class
from topiccrawl.scheduler.starttime import LAST, parse_since
from topiccrawl.storage.factory import opened, storage_of
from topiccrawl.storage.formats import STANDARD, open_writer
from topiccrawl.storage.pages import Pages
from topiccrawl.storage.selection import (
    NewsEvent,
    Selection,
    day,
    group_by_event,
    names_in,
    site_in,
    words_in,
)
from topiccrawl.storage.sites import Sites
from topiccrawl.storage.tables import (
    COLUMNS,
    SORTED,
    ExportFilter,
    Table,
    columns_named,
    displayed_values,
    export_articles,
    score_of,
)
from topiccrawl.topics.topic import resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence

    from topiccrawl.model import Article
    from topiccrawl.storage.contract import ArticleStore, Reprint, Story, Version

UNSETTLED = 300.0
"""Seconds by which the next ``--stored-since`` export overlaps this one, for articles whose write
has begun but cannot be read yet, and for differences of clocks between machines. An article may be
exported twice, but none is missed."""

SHOWN = 20
"""Default number of listed articles."""

PATIENCE = 3.0
"""Seconds until a search without a result says why it takes long."""


class ArticlesCommand(OperatorCommand, ScrapyCommand):
    """List, show, search, export or forget stored articles."""

    usage = (
        "[options] list | show URL | search WORDS | events | changes | export FILE"
        " | forget URL|site:HOST ..."
    )
    summary = message("List, show, search, export or forget stored articles")
    details = message(
        "list and search: newest stored articles first. show: one article with its reprints. "
        "export: all articles as an .xlsx, .csv, .html, .md, .jsonl, .parquet, .atom or .rss "
        "file, or - for JSON lines on standard output. "
        "events: articles grouped by the event they report. "
        "changes: pages that a watched crawl found new, changed or gone since its last run (or "
        "--since 12h, 7d, 2026-01-31). forget: delete articles; later crawls do not store them."
    )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_topic_option(parser)
        add = parser.add_argument
        add("--all", action="store_true", help=tr("articles of all topics"))
        for name, metavar, text in (
            ("site", "HOST", tr("articles of this host and its subdomains")),
            ("since", "DAY", tr("published on or after this day, such as 2026-01-31")),
            ("template", "NAME", tr("changes: records of a template")),
            ("until", "DAY", tr("published on or before this day")),
        ):
            add(f"--{name}", default="", metavar=metavar, help=text)
        text = tr("maximum number; 0: all (default for list, search: {SHOWN})", SHOWN=SHOWN)
        add("--limit", type=count, metavar="N", help=text)
        add("--json", action="store_true", help=tr("write one JSON object per line"))
        text = tr("export: columns, of {columns}", columns=NameList(COLUMNS))
        add("--columns", default="", metavar="A,B", help=text)
        text = tr("export: sort descending (default: newest stored first)")
        add("--sort", choices=SORTED, help=text)
        text = tr("export: minimum score")
        add("--min-score", type=score, default=0.0, metavar="X", help=text)
        text = tr("export: stored since: last (start of the last crawl), 12h, 7d or a day")
        add("--stored-since", default="", metavar="WHEN", help=text)

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        match args:
            case ["list"] | []:
                asyncio.run(self._list(self._selection(opts), opts))
            case ["search", *words] if words:
                found = self._selection(opts)._replace(words=words_in(" ".join(words)))
                asyncio.run(self._list(found, opts))
            case ["show", url]:
                asyncio.run(self._show(url, opts))
            case ["events"]:
                asyncio.run(self._events(self._selection(opts), opts))
            case ["changes"]:
                asyncio.run(self._changes(opts))
            case ["export", file]:
                asyncio.run(self._export(file, self._selection(opts), opts))
            case ["forget", *names] if names:
                self._forget(names)
            case _:
                raise UsageError

    def _selection(self, opts: argparse.Namespace) -> Selection:
        topic = "" if opts.all else self._topic(opts.topic)
        since, until = day(opts.since, "--since"), day(opts.until, "--until")
        if since and until and since > until:
            raise ConfigurationError(
                "--since {since} is later than --until {until}", since=since, until=until
            )
        return Selection(topic, site_in(opts.site), since, until)

    def _topic(self, argument: str | None) -> str:
        if argument:
            return resolve(argument).name
        try:
            return self.last_crawl(None).topic
        except StateError:
            if storage_of(self.options).exists():  # filled by another machine, or by tasks
                return ""
            raise

    async def _list(self, selection: Selection, opts: argparse.Namespace) -> None:
        limit = SHOWN if opts.limit is None else opts.limit

        def show(article: Article) -> None:
            line = _line(article, selection.topic)
            say(_dumps(displayed_values(article)) if opts.json else line)

        await self._for_each(selection, ExportFilter(limit=limit), show)

    async def _events(self, selection: Selection, opts: argparse.Namespace) -> None:
        async with self._store() as store, aclosing(store.select(selection)) as articles:
            found = group_by_event([article async for article in articles])
        for event in found[: (SHOWN if opts.limit is None else opts.limit) or None]:
            if opts.json:
                urls = [article.url for article in event.articles]
                days = {"first": event.days[0], "last": event.days[1]}
                values = {"event": event.event, "title": event.title, **days, "articles": urls}
                say(_dumps(values))
            else:
                say(_headline(event), *(f"  {_line(a, selection.topic)}" for a in event.articles))
        if not found:
            text = tr("no event with two articles: crawl with -s TOPICCRAWL_EVENTS=7")
            say(text, to=sys.stderr)

    async def _export(self, file: str, selection: Selection, opts: argparse.Namespace) -> None:
        started = time.time()
        if opts.stored_since:
            since = parse_since(opts.stored_since, self.folder, selection.topic, started)
            selection = selection._replace(stored_since=since)
        choice = ExportFilter(opts.sort or "", opts.min_score, opts.limit or 0)
        formats = Table(selection.topic, columns_named(opts.columns)).formats()
        with open_writer(file, formats) as writer:
            number = await self._for_each(selection, choice, writer.write)
        if file != STANDARD:
            say(tr("{file}: {number} articles", file=file, number=number), to=sys.stderr)
        if opts.stored_since:
            cursor = datetime.fromtimestamp(started - UNSETTLED, UTC).isoformat(timespec="seconds")
            say(tr("next export: --stored-since {cursor}", cursor=cursor), to=sys.stderr)

    async def _changes(self, opts: argparse.Namespace) -> None:
        if opts.template:
            owner = spider_class(self.options, "template").owner_of(opts.template).name
            since = await changes.period_since(self.options, opts.since or LAST, owner, time.time())
        else:
            owner = self._topic(opts.topic)
            if not owner:
                raise StateError(
                    "{folder}: logs no crawl: choose a topic with --topic TOPIC", folder=self.folder
                )
            since = parse_since(opts.since or LAST, self.folder, owner, time.time())
        until = changes.until_of(opts.until, self.folder, owner, time.time())
        found = await changes.changes_of(self.options, owner, since, until, site_in(opts.site))
        async with self._store() as store:
            rows = (await changes.change_rows(store, found))[: opts.limit or None]
        if not (opts.template or found or await changes.changes_of(self.options, owner, 0.0)):
            text = tr("{owner}: no page has been watched: crawl with -a watch=1", owner=owner)
            say(text, to=sys.stderr)
        say(*(map(_dumps, rows) if opts.json else changes.report(owner, since, found, rows)))

    def _forget(self, names: list[str]) -> None:
        """Delete articles from the store, then by TOPICCRAWL_FORGET, such as from the archive."""
        further = components(self.options, "TOPICCRAWL_FORGET")
        parsed = [one for name in names for one in names_in(name)]
        gone, known = asyncio.run(self._delete(parsed))
        say(tr("{gone} articles deleted, which will not be stored again", gone=gone))
        for remove in further:
            for line in remove(self.options, known):
                say(line)

    async def _delete(self, names: list[str]) -> tuple[int, list[str]]:
        """Delete from the store; return the number of articles, and all their URLs."""
        known = dict.fromkeys(names)
        async with self._store() as store:
            for name in names:
                if story := await store.get(name):
                    article = story.article
                    urls = (article.url, article.final_url, article.canonical_url)
                    known |= dict.fromkeys(filter(None, urls if name in urls else ()))
            gone = await store.forget(names, time.time())
        storage = storage_of(self.options)
        async with Pages(storage) as pages, Sites(storage) as sites:
            await pages.forget(names)
            await sites.forget(names)
        return gone, list(known)

    async def _show(self, url: str, opts: argparse.Namespace) -> None:
        """Show the story of a URL and its earlier versions."""
        storage = storage_of(self.options)
        story, versions = None, []
        if storage.exists():  # opening it creates one
            async with self._store() as store:
                story = await store.get(url) or await store.get(canonical(url) or url)
                versions = await store.versions(story.article.url) if story else []
        if story is None:
            place = storage.place
            say(tr("{url}: no article in {place} has this URL", url=url, place=place))
            self.exitcode = 1
        else:
            say(*([_story_json(story, versions)] if opts.json else _show(story, versions)))

    async def _for_each(
        self, selection: Selection, choice: ExportFilter, use: Callable[[Article], object]
    ) -> int:
        """Call a function with each article; return their number, and report if there are none."""
        number = 0
        text = tr("still searching: the first search after a crawl indexes its articles")
        notice = partial(say, text, to=sys.stderr)
        timer = asyncio.get_running_loop().call_later(PATIENCE, notice)
        if not selection.words:
            timer.cancel()
        async with (
            self._store() as store,
            aclosing(export_articles(store, selection, choice)) as articles,
        ):
            async for article in articles:
                timer.cancel()
                use(article)
                number += 1
        timer.cancel()
        if not number:
            place = storage_of(self.options).place
            text = tr("{place}: no matching article of any topic", place=place)
            if selection.topic:
                of = selection.topic
                text = tr("{place}: no matching article of topic {topic!r}", place=place, topic=of)
            say(text, to=sys.stderr)
        return number

    def _store(self) -> AbstractAsyncContextManager[ArticleStore]:
        return opened(storage_of(self.options).articles())


_dumps = partial(json.dumps, ensure_ascii=False)
"""Return a value as one line of JSON."""


def _story_json(story: Story, versions: Sequence[Version]) -> str:
    """Return an article with its reprints and earlier versions as one JSON object.

    The versions have no body if the page has ``noarchive``.
    """
    reprints = [reprint._asdict() for reprint in _by_time(story.reprints)]
    hidden = {"body": ""} if story.article.noarchive else {}
    before = [one._asdict() | hidden for one in versions]
    more = {"reprints": reprints, "versions": before}
    return _dumps({**displayed_values(story.article), **more})


def _by_time(reprints: Iterable[Reprint]) -> list[Reprint]:
    """Sort reprints by publication date; those without a date are last, in order of fetching."""
    return sorted(reprints, key=lambda r: (r.published or "9", r.seen_at))


def _reprint_line(reprint: Reprint) -> str:
    day = reprint.published[:16].replace("T", " ") or tr("no date")
    why = f"{reprint.similarity:.0%}, {reprint.reason}"
    label = tr("reprint")
    return f"{label} {day}  {reprint.site}  {reprint.title}  {reprint.url} ({why})"


def _headline(event: NewsEvent) -> str:
    first, last = event.days
    days = first if first == last else tr("{low} to {high}", low=first, high=last)
    text = message("{number} articles of {sites} sites")
    return f"{tr(text, number=len(event.articles), sites=event.sites)}  {days}  {event.title}"


def _line(article: Article, topic: str) -> str:
    score = f"{score_of(article, topic):.3f}"
    return f"{score}  {article.published[:10]:<10}  {article.title}  {article.url}"


def _version_line(version: Version) -> str:
    return tr(
        "changed {at}  before: {title} ({number} characters, see --json)",
        at=changes.minute_of(version.replaced_at), title=version.title, number=len(version.body),
    )  # fmt: skip


def _show(story: Story, versions: Sequence[Version]) -> list[str]:
    article, body = story.article, story.article.body.split("\n")
    scores, words = article.topics.items(), [f"{term} {share:.0%}" for term, share in article.words]
    about = [article.published, article.source, article.author, article.language, article.encoding]
    return [
        article.title,
        article.url,
        " · ".join(part for part in about if part),
        *(tr("topic {name}: {score:.4f}", name=name, score=score) for name, score in scores),
        *([tr("follows up {url}", url=article.follows)] if article.follows else ()),
        *([tr("event {event}", event=article.event)] if article.event else ()),
        tr("terms {words}", words=NameList(words)),
        *(
            [tr("links {share:.0%}", share=article.expected)]
            if article.expected is not None
            else ()
        ),
        "",
        *([tr("(not shown: the page has noarchive)")] if article.noarchive else body),
        "",
        *map(_version_line, versions),
        *map(_reprint_line, _by_time(story.reprints)),
    ]
