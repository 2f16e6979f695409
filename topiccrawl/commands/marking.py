"""``scrapy topics mark|unsure|marks``: marks of pages by readers."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from topiccrawl.errors import StateError
from topiccrawl.links.urls import canonical
from topiccrawl.messages import field, tr
from topiccrawl.model import LINKS, Mark
from topiccrawl.scheduler.frontiers import read_frontier
from topiccrawl.storage.factory import opened, storage_of
from topiccrawl.storage.formats import atomic_output
from topiccrawl.storage.sites import MarkStore
from topiccrawl.topics.learning import request, response
from topiccrawl.topics.marks import MarkedModel, as_page, derived_vector, example_texts
from topiccrawl.topics.scorer import LOWER_LIMIT, Scorer
from topiccrawl.topics.topic import Topic, resolve
from topiccrawl.userfiles import read_user_file, to_toml

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from scrapy.settings import Settings

    from topiccrawl.storage.contract import Story
    from topiccrawl.topics.contract import Reasons, RelevanceModel

REASONS = 6
"""Number of words shown as reasons of a verdict."""
WANTED = {"yes": True, "no": False, "none": None}
"""Values of a mark; "none" removes it."""


async def mark(
    settings: Settings, topic: Topic, frontier: str, url: str, value: str, most: int = 0
) -> str:
    """Store a mark; return a line that confirms it.

    Args:
        settings: Settings of the project.
        topic: The topic.
        frontier: Place of the frontier of the crawl; "" if there is none.
        url: URL of a page that a crawl fetched.
        value: Key of ``WANTED``.
        most: Maximum number of marks; 0 means no limit.

    Raises:
        StateError: If no text of the page is stored, or there are too many marks.
    """
    wanted, page_url = WANTED[value], canonical(url) or url
    async with MarkStore.opened(settings, topic.name) as store:
        known = {one.url for one in await store.marks()}
        if 0 < most <= len(known) and page_url not in known:
            raise StateError("there are {most} marks: remove some, or use `topics mark`", most=most)
        found = Mark(page_url, "", "")
        if wanted is not None:
            found = await _stored_page(settings, store, topic.name, frontier, page_url)
        if wanted is not None or page_url in known:
            await store.mark([found._replace(wanted=wanted)])
        marks = await store.marks()
    yes = sum(bool(one.wanted) for one in marks)
    return tr(
        "{topic}: {yes} pages marked yes, {no} no · {page}",
        topic=topic.name, yes=yes, no=len(marks) - yes, page=found.title or page_url,
    )  # fmt: skip


async def _stored_page(
    settings: Settings, store: MarkStore, topic: str, frontier: str, url: str
) -> Mark:
    """Return the stored text of a page: its article, its sample, or the texts of its link."""
    story = await _story(settings, url)
    if story is not None:
        article = story.article
        return Mark(url, article.title, article.body, expected=article.expected_for(topic))
    for page in (await store.pages())[1]:
        if page.url == url:
            return page
    if frontier:
        with closing(read_frontier(frontier, settings)) as reader:
            known = reader.why(url)
        if known is not None and (known.anchor or known.context):
            return Mark(url, known.anchor, f"{known.anchor}\n{known.context}")
    raise StateError(
        "{url}: its text is not stored; mark an article, or a page of `topics unsure`", url=url
    )


async def outcome_of(settings: Settings, topic: str, url: str, *, fetched: bool) -> list[str]:
    """Return lines on what is stored of a page, and on the words that decided its verdict."""
    if (story := await _story(settings, url)) is not None:
        return [_stored(story, url), *_reasons(story.article.terms)]
    lines = [field("stored", tr("no article of this page"))] if fetched else []
    marks, pages = await _known(settings, topic)
    if found := [page for page in pages if page.url == url]:
        lines += _reasons(_model(resolve(topic), marks, pages).explain(as_page(found[0])))
    return lines


def _stored(story: Story, url: str) -> str:
    for copy in story.reprints:
        if copy.url == url:
            text = tr("as a copy of {url} ({reason})", url=story.article.url, reason=copy.reason)
            return field("stored", text)
    return field("stored", tr("as an article: {title}", title=story.article.title))


def _reasons(terms: Reasons) -> list[str]:
    links, names = (pair for pair in terms[REASONS:] if pair[0] == LINKS), {LINKS: tr("(links)")}
    shown = (*terms[:REASONS], *links)
    named = " · ".join(f"{names.get(word, word)} {added:+.2f}" for word, added in shown)
    return [field("decided by", named)] if named else []


async def _story(settings: Settings, url: str) -> Story | None:
    async with opened(storage_of(settings).articles()) as articles:
        return await articles.get(url)


def _model(topic: Topic, marks: Sequence[Mark], pages: Sequence[Mark]) -> RelevanceModel:
    """Return the relevance model that a crawl would use now."""
    own = None if topic.terms else derived_vector(marks, pages)
    scorer = Scorer(topic, vector=own)
    learned = response(request(scorer, marks, pages)) if marks else ""
    return MarkedModel.from_json(scorer, learned) if learned else scorer


async def derived_terms(settings: Settings, topic: Topic) -> list[str]:
    """Return lines with the terms derived from examples, for a topic without terms."""
    if topic.terms:
        return []
    marks, pages = await _known(settings, topic.name)
    found = {mark.url: mark for mark in (*marks, *example_texts(topic))}
    words = derived_vector(tuple(found.values()), pages).items()
    lines = [field("derived", f"{term} × {weight:g}") for term, weight in words]
    none = tr("none yet: a crawl has to fetch the examples first")
    return lines or [field("derived", none)]


async def uncertain_pages(settings: Settings, topic: Topic, most: int) -> list[tuple[float, Mark]]:
    """Return the sampled pages nearest to the threshold, each with the probability of "wanted"."""
    marks, pages = await _known(settings, topic.name)
    model = _model(topic, marks, pages)
    known = {one.url for one in marks}
    rated = [(_chance(model, page), page) for page in pages if page.url not in known]
    rated.sort(key=lambda one: (abs(one[0] - 0.5), one[1].url))
    return rated[:most]


def _chance(model: RelevanceModel, page: Mark) -> float:
    """Return the probability that a page is wanted; for word scores, 0.5 is the lower limit."""
    score = model.score_page(as_page(page)).relevance
    if not isinstance(model, Scorer):
        return score
    limit = model.lower_limit or LOWER_LIMIT
    return score / (score + limit)


def marks(settings: Settings, topic: Topic, options: argparse.Namespace) -> list[str]:
    """Import or export marks if the options name a file, otherwise list them; return the lines."""
    if options.source:
        count = asyncio.run(import_marks(settings, topic, options.source))
        return [tr("{topic}: {count} marks imported", topic=topic.name, count=count)]
    found = sorted(asyncio.run(_known(settings, topic.name))[0], key=lambda one: one.url)
    if options.export:
        _export_marks(topic, found, options.export)
        return [tr("{topic}: {count} marks exported", topic=topic.name, count=len(found))]
    names = {True: "yes", False: "no "}
    return [f"  {names[bool(one.wanted)]}  {one.url}  {one.title}" for one in found]


async def _known(settings: Settings, topic: str) -> tuple[list[Mark], list[Mark]]:
    """Return the marks of a topic, and its sample of pages."""
    async with MarkStore.opened(settings, topic) as store:
        return await store.marks(), (await store.pages())[1]


def _export_marks(topic: Topic, found: Sequence[Mark], file: str) -> None:
    """Write marks as JSON lines, or as examples of a topic file (``.toml``).

    A temporary file is written, then renamed.
    """
    lines = "".join(f"{one.to_json()}\n" for one in found)
    text = to_toml(with_marks(topic, found)) if file.endswith(".toml") else lines
    with atomic_output(Path(file)) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


def with_marks(topic: Topic, marks: Sequence[Mark]) -> Topic:
    """Add the URLs of marked pages to a topic, as examples and counterexamples."""
    marked = {mark.url: bool(mark.wanted) for mark in marks if canonical(mark.url)}
    known = {
        True: [one for one in topic.examples if canonical(one) not in marked],
        False: [one for one in topic.counterexamples if canonical(one) not in marked],
    }
    for url, wanted in marked.items():
        known[wanted].append(url)
    examples, others = tuple(known[True]), tuple(known[False])
    return topic.model_copy(update={"examples": examples, "counterexamples": others})


async def import_marks(settings: Settings, topic: Topic, file: str) -> int:
    """Store the marks of an exported file, all or none, and count them.

    Raises:
        StateError: The file cannot be read, or a line is no mark; it names the line and the field.
    """
    lines = read_user_file(Path(file), StateError).split("\n")
    found, adapter = [], TypeAdapter(Mark)
    for number, line in enumerate(lines, 1):
        try:
            found += [adapter.validate_json(line)] if line.strip() else []
        except ValidationError as error:
            first = error.errors()[0]
            raise StateError(
                "{file}: line {number} is no mark of `topics marks --export`: {field}{why}",
                file=file,
                number=number,
                field="".join(f"{part}: " for part in first["loc"]),
                why=first["msg"],
            ) from error
    async with MarkStore.opened(settings, topic.name) as store:
        await store.mark(found)
    return len(found)
