"""Work of ``scrapy simulate``: replay a collection, topic by topic, and report the results."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from topiccrawl.addons.simulate import drawing, plot
from topiccrawl.addons.simulate.collection import RecordedWeb
from topiccrawl.addons.simulate.harvest import (
    BASELINE,
    Case,
    Harvest,
    case_of,
    harvest,
    labelled_case,
    own_case,
)
from topiccrawl.addons.simulate.replay import Conditions, Replay
from topiccrawl.addons.simulate.report import SET, Areas, comparison, figures, merged, table
from topiccrawl.addons.simulate.truth import read_truth
from topiccrawl.commands.terminal import say
from topiccrawl.errors import ConfigurationError
from topiccrawl.extract.readers import NoReaderError
from topiccrawl.extract.reading import LocalReader
from topiccrawl.frontier.contract import Limits
from topiccrawl.links.strategies import DEFAULT, strategy
from topiccrawl.links.traps import TrapRules
from topiccrawl.scheduler.build import limits_of, share_of
from topiccrawl.spiders.arguments import adapter_of, seeds_of, strategy_parameters
from topiccrawl.spiders.reading import pool_of, reader_of
from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import Topic, default_seeds, resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from scrapy.settings import Settings

    from topiccrawl.addons.simulate.drawing import Judged
    from topiccrawl.model import Page, Verdict


logger = logging.getLogger(__name__)


class Session:
    """Replays with a crawl's settings.

    Args:
        settings: The crawl's.
        opts: Of the command.
    """

    def __init__(self, settings: Settings, opts: argparse.Namespace) -> None:
        self._settings = settings
        self._opts = opts

    def run(self, collections: Sequence[Path]) -> None:
        """Replay collections with each strategy; show and write what was asked for.

        Raises:
            ConfigurationError: What is named cannot be read, used or written.
        """
        opts = self._opts
        if opts.plot:
            plot.check()
        names = list(dict.fromkeys(opts.strategy or [BASELINE, DEFAULT]))
        for name in names:
            strategy(name)  # a mistyped name ends the command before the first replay
        areas: dict[str, Areas] = {}
        judged: list[Judged] = []
        orders: list[str] = []
        jobs = jobs_of(collections, opts)
        for job, done in zip(jobs, self._done(jobs, names), strict=True):
            say(
                *table(done.case, done.harvests),
                f"  {done.pages} pages in {done.seconds:.1f} s",
                "",
            )
            judged.append((done.case, done.harvests))
            orders += done.orders
            for one in done.harvests:
                by_topic = areas.setdefault(job.collection.name, {n: {} for n in names})[one.name]
                by_topic[done.case.topic.name] = one.area
        say(*comparison(areas))
        _write(opts, collections[0].name, judged, figures(merged(areas), DEFAULT))
        if opts.order:
            _save("--order", opts.order, "".join(orders))

    def _done(self, jobs: Sequence[Job], names: Sequence[str]) -> Iterator[Done]:
        """Yield the results of the jobs, in their order."""
        given = [(self._settings, self._opts, job, names) for job in jobs]
        if self._opts.processes == 1:
            yield from starmap(work, given)
            return
        with ProcessPoolExecutor(self._opts.processes) as executor:
            yield from executor.map(work, *zip(*given, strict=True))


class Job(NamedTuple):
    """One topic of one collection.

    Attributes:
        collection: File of the recorded pages.
        truth: File of the topics whose pages are known; None: the topic's own verdict counts.
        topic: Its name.
        draw: 0 for the stated start pages, else the number of another set.
    """

    collection: Path
    truth: Path | None
    topic: str
    draw: int = 0


class Done(NamedTuple):
    """Results of a job.

    Attributes:
        case: Criteria.
        harvests: Of each strategy.
        orders: Lines for ``--order``.
        seconds: Time of all replays.
    """

    case: Case
    harvests: list[Harvest]
    orders: list[str]
    seconds: float

    @property
    def pages(self) -> int:
        """Pages of all replays."""
        return sum(one.pages for one in self.harvests)


def jobs_of(collections: Sequence[Path], opts: argparse.Namespace) -> list[Job]:
    """Return the jobs of a command, collection by collection.

    Raises:
        ConfigurationError: A file of topics is missing, cannot be read, or lacks a named topic.
    """
    truths: list[Path | None] = list(opts.truth or [])
    if not truths:
        truths = [None if opts.topic else _beside(one) for one in collections]
    if len(truths) != len(collections):
        raise ConfigurationError(
            "{truths} --truth for {collections} collections: give one for each",
            truths=len(truths),
            collections=len(collections),
        )
    jobs = []
    for collection, truth in zip(collections, truths, strict=True):
        known = read_truth(truth) if truth else {}
        for name in opts.topic or known:
            if truth and name not in known:
                raise ConfigurationError(
                    "{truth} has no topic {name!r}: choose among {choices}",
                    truth=truth,
                    name=name,
                    choices=", ".join(known),
                )
            jobs += [Job(collection, truth, name, draw) for draw in range(opts.seed_sets)]
    return jobs


def _beside(collection: Path) -> Path:
    truth = collection.with_name(collection.name.partition(".web.")[0] + ".topics.json")
    if not truth.exists():
        raise ConfigurationError(
            "{collection}: name topics with --topic or --truth; there is no {name}",
            collection=collection,
            name=truth.name,
        )
    return truth


_HELD: dict[tuple[str, ...], RecordedWeb] = {}
"""The collection of the last job of this process: the next one is mostly of the same."""
_READING = (
    "TOPICCRAWL_COLLECTIONS",
    "TOPICCRAWL_READER",
    "TOPICCRAWL_READERS",
    "TOPICCRAWL_READER_MEMORY",
    "TOPICCRAWL_READER_SECONDS",
)
"""Settings by which pages are read."""


def _web(settings: Settings, collection: Path) -> RecordedWeb:
    """Return a collection whose pages were read as a crawl with these settings reads them."""
    held = str(collection), *(str(settings[name]) for name in _READING)
    if held not in _HELD:
        _HELD.clear()
        web = RecordedWeb.read(collection, settings.getdict("TOPICCRAWL_COLLECTIONS"))
        asyncio.run(_read_all(settings, web))
        _HELD[held] = web
    return _HELD[held]


async def _read_all(settings: Settings, web: RecordedWeb) -> None:
    own = LocalReader(reader_of(settings))  # a wrong path is refused here
    readers = pool_of(settings, lambda _: None) or own
    try:
        await web.read_all(readers)
    except* NoReaderError as errors:
        logger.warning("%s; pages are read in this process", errors.exceptions[0])
        await web.read_all(own)
    finally:
        await readers.close()


def work(settings: Settings, opts: argparse.Namespace, job: Job, names: Sequence[str]) -> Done:
    """Do a job: replay a topic with each strategy."""
    web = _web(settings, job.collection)
    case, scorer = _case_of(opts, job, web)
    began = time.perf_counter()
    harvests, orders = [], []
    for name in names:
        found, line = _replay(settings, opts, web, (case, scorer), name)
        harvests.append(found)
        orders.append(line)
    return Done(case, harvests, orders, time.perf_counter() - began)


def _case_of(
    opts: argparse.Namespace, job: Job, web: RecordedWeb
) -> tuple[Case, RememberingScorer]:
    """Return the case and the scorer of a job's topic."""
    if job.truth is None:
        topic = _seeded(resolve(job.topic), opts.seeds, web)
        scorer = RememberingScorer(topic)
        case = own_case(web, topic, scorer, opts.budget)
    else:
        case = labelled_case(web, read_truth(job.truth)[job.topic], opts.budget)
        scorer = RememberingScorer(case.topic)
    if job.draw:
        begun = drawn(web, case.topic, case.relevant, job.draw)
        case = case_of(web, begun, case.relevant, opts.budget)
    return case, scorer


def drawn(web: RecordedWeb, topic: Topic, relevant: frozenset[str], draw: int) -> Topic:
    """Return a topic that begins at as many other pages, drawn from its relevant ones."""
    chance = random.Random(f"{topic.name} {draw}")  # noqa: S311 - not for secrets
    names = sorted(relevant)
    chosen = chance.sample(names, min(len(names), max(1, len(topic.seeds))))
    seeds = tuple(web.pages[name].url for name in chosen)
    return topic.model_copy(update={"seeds": seeds, "name": f"{topic.name} {SET}{draw + 1}"})


def _replay(
    settings: Settings,
    opts: argparse.Namespace,
    web: RecordedWeb,
    judged: tuple[Case, RememberingScorer],
    name: str,
) -> tuple[Harvest, str]:
    """Return the harvest of one strategy, and its line for ``--order``."""
    case, scorer = judged
    order = strategy(name, scorer, strategy_parameters(settings, case.topic))
    options = settings.copy()
    options.set("TOPICCRAWL_STRATEGY", name, priority="cmdline")
    adapter = adapter_of(options, scorer, order)
    given = _conditions(settings, opts, case)
    replayed = Replay(web, case.topic, scorer, order, given, adapter).run()
    found = harvest(name, replayed.fetched, case)
    line = {"topic": case.topic.name, "strategy": name, "area": round(found.area, 6)}
    pages = replayed.fetched[: case.budget]
    return found, json.dumps({**line, "pages": pages}, ensure_ascii=False) + "\n"


def _conditions(options: Settings, opts: argparse.Namespace, case: Case) -> Conditions:
    """Return the crawl's settings, as far as a replay has them."""
    own = case.topic.limits
    bounds = limits_of(options)
    traps = TrapRules(
        max_length=options.getint("URLLENGTH_LIMIT"),
        max_slashes=options.getint("TOPICCRAWL_TRAP_SLASHES"),
    )
    return Conditions(
        budget=case.budget,
        batch=opts.batch,
        robots=options.getbool("ROBOTSTXT_OBEY"),
        limits=Limits(
            max_depth=bounds.max_depth if own.depth is None else own.depth,
            max_host_pages=bounds.max_host_pages if own.host_pages is None else own.host_pages,
        ),
        share=share_of(options),
        traps=traps if options.getbool("TOPICCRAWL_TRAPS_ENABLED") else None,
        seed=options.getint("TOPICCRAWL_ADAPT_SEED"),
    )


def _seeded(topic: Topic, seeds: str, web: RecordedWeb) -> Topic:
    """The topic with the seeds that a crawl would have, some of them recorded.

    Raises:
        ConfigurationError: If none is.
    """
    found = seeds_of(seeds) if seeds else topic.seeds or default_seeds(topic)
    if not any(web.get(seed) for seed in found):
        raise ConfigurationError(
            "topic {name!r}: the collection holds none of its {found} seeds; "
            "name some with --seeds URL,URL",
            name=topic.name,
            found=len(found),
        )
    return topic.model_copy(update={"seeds": found})


def _write(
    opts: argparse.Namespace, title: str, judged: Sequence[Judged], found: dict[str, float]
) -> None:
    """Write what the user asked for."""
    if opts.plot:
        plot.write(opts.plot, title, judged)
    if opts.html:
        _save("--html", opts.html, drawing.page(title, judged))
    if opts.json:
        _save("--json", opts.json, json.dumps(found, ensure_ascii=False) + "\n")


def _save(option: str, path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            "{option} {path}: cannot be written: {strerror}",
            option=option,
            path=path,
            strerror=error.strerror,
        ) from error


class RememberingScorer(Scorer):
    """The production scorer; pages and link texts that it scored before cost a look-up.

    It holds every text it scored, so its memory grows with the collection, about as large as its
    link texts.
    """

    most_vectors = 2_000
    """Page vectors that are held, about 40 MB; a crawl learns from fewer pages."""

    @cached_property
    def _verdicts(self) -> dict[str, Verdict]:
        return {}

    @cached_property
    def _scores(self) -> dict[str, float]:
        return {}

    @cached_property
    def _vectors(self) -> dict[tuple[str, str], dict[str, float]]:
        return {}

    @override
    def score_page(self, page: Page) -> Verdict:
        """As the scorer's, cached by the page's URL."""
        verdict = self._verdicts.get(page.url)
        if verdict is None:
            verdict = self._verdicts[page.url] = super().score_page(page)
        return verdict

    @override
    def score_many(self, texts: Sequence[str]) -> list[float]:
        """As the scorer's; only new texts are scored."""
        scores = self._scores
        fresh = [text for text in texts if text not in scores]
        if fresh:
            scores.update(zip(fresh, super().score_many(fresh), strict=True))
        return [scores[text] for text in texts]

    @override
    def page_vector(self, text: str, title: str = "") -> dict[str, float]:
        """As the scorer's, cached; the caller must not change it."""
        vector = self._vectors.get((text, title))
        if vector is None:
            vector = super().page_vector(text, title)
            if len(self._vectors) < self.most_vectors:
                self._vectors[text, title] = vector
        return vector
