"""Session of ``scrapy simulate``: replays collections, topic by topic, and reports the results."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.simulate import orders, report
from topiccrawl.addons.simulate.collection import RecordedWeb
from topiccrawl.addons.simulate.harvest import (
    BASELINE,
    Case,
    Harvest,
    build_case,
    harvest,
    labelled_case,
    read_truth,
    unlabelled_case,
)
from topiccrawl.addons.simulate.orders import Order
from topiccrawl.addons.simulate.replay import Conditions, Replay
from topiccrawl.addons.simulate.report import SET, Areas, Judged, comparison, figures, merged, table
from topiccrawl.commands.terminal import say
from topiccrawl.errors import ConfigurationError, translated
from topiccrawl.extract.readers import NoReaderError
from topiccrawl.extract.reading import LocalReader
from topiccrawl.frontier.contract import Limits
from topiccrawl.links.strategies import DEFAULT, strategy
from topiccrawl.messages import NameList, counted
from topiccrawl.scheduler.build import limits_of, share_of, slow_start_of, traps_of
from topiccrawl.spiders.arguments import adapter_of, seeds_of, strategy_parameters
from topiccrawl.spiders.reading import pool_of, reader_of
from topiccrawl.topics import Scorer, SiteWords
from topiccrawl.topics.topic import Topic, default_seeds, resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from scrapy.settings import Settings

logger = logging.getLogger(__name__)


def simulate(settings: Settings, opts: argparse.Namespace, collections: Sequence[Path]) -> None:
    """Replay collections with each strategy; print and write the requested results.

    Args:
        settings: Settings of the crawl.
        opts: Options of the command.
        collections: Files with the recorded pages.

    Raises:
        ConfigurationError: If an option is invalid, or a file cannot be read or written.
    """
    names = list(dict.fromkeys(opts.strategy or [BASELINE, DEFAULT]))
    for name in names:
        strategy(name)  # raises for an unknown name before the first replay
    if opts.resume and not opts.order:
        raise ConfigurationError("--resume: pass the file of the interrupted run, --order FILE")
    areas: dict[str, Areas] = {}
    judged: list[Judged] = []
    jobs = jobs_of(collections, opts)
    results = zip(jobs, _results(settings, opts, jobs, names), strict=True)
    for number, (job, done) in enumerate(results):
        pages = sum(len(order.pages) for order in done.orders)
        sums = counted("  {pages} pages in {seconds:.1f} s", pages=pages, seconds=done.seconds)
        say(*table(done.case, done.harvests), sums, "")
        judged.append((done.case, done.harvests))
        if opts.order:
            if not number:
                orders.begin(opts.order, resume=opts.resume)
            orders.append(opts.order, done.orders)
        for one in done.harvests:
            by_topic = areas.setdefault(job.collection.name, {n: {} for n in names})[one.name]
            by_topic[done.case.topic.name] = one.area
    say(*comparison(areas))
    _write(opts, collections[0].name, judged, areas)


def _results(
    settings: Settings, opts: argparse.Namespace, jobs: Sequence[Job], names: Sequence[str]
) -> Iterator[JobResult]:
    """Yield the results of the jobs, in order."""
    given = [(settings, opts, job, names) for job in jobs]
    if opts.processes == 1:
        yield from starmap(run_job, given)
        return
    with ProcessPoolExecutor(opts.processes) as executor:
        yield from executor.map(run_job, *zip(*given, strict=True))


def _write(
    opts: argparse.Namespace, title: str, judged: Sequence[Judged], areas: Mapping[str, Areas]
) -> None:
    if opts.html:
        _save("--html", opts.html, report.page(title, judged))
    if opts.json:
        found = figures(merged(areas), DEFAULT)
        _save("--json", opts.json, json.dumps(found, ensure_ascii=False) + "\n")


class Job(NamedTuple):
    """One topic of one collection.

    Attributes:
        collection: File with the recorded pages.
        truth: File with labelled topics; None: pages are judged by the topic itself.
        topic: Name of the topic.
        draw: 0 for the topic's start pages, or the number of another, sampled set.
    """

    collection: Path
    truth: Path | None
    topic: str
    draw: int = 0


class JobResult(NamedTuple):
    """Results of a job.

    Attributes:
        case: Criteria of the topic.
        harvests: Harvest of each strategy.
        orders: Replays that are not yet in the file of ``--order``.
        seconds: Duration of these replays.
    """

    case: Case
    harvests: list[Harvest]
    orders: list[Order]
    seconds: float


def jobs_of(collections: Sequence[Path], opts: argparse.Namespace) -> list[Job]:
    """Return the jobs of a command, collection by collection.

    Raises:
        ConfigurationError: If a topic file is missing or invalid, or lacks a given topic.
    """
    truths: list[Path | None] = list(opts.truth or [])
    if not truths:
        truths = [None if opts.topic else _default_truth(one) for one in collections]
    if len(truths) != len(collections):
        raise ConfigurationError(
            "{truths} --truth for {collections} collections: pass one per collection",
            truths=len(truths),
            collections=len(collections),
        )
    jobs = []
    for collection, truth in zip(collections, truths, strict=True):
        known = read_truth(truth) if truth else {}
        for name in opts.topic or known:
            if truth and name not in known:
                raise ConfigurationError(
                    "{truth} has no topic {name!r}: choose one of {choices}",
                    truth=truth,
                    name=name,
                    choices=NameList(known),
                )
            jobs += [Job(collection, truth, name, draw) for draw in range(opts.seed_sets)]
    return jobs


def _default_truth(collection: Path) -> Path:
    truth = collection.with_name(collection.name.partition(".web.")[0] + ".topics.json")
    if not truth.exists():
        raise ConfigurationError(
            "{collection}: no topics: pass --topic or --truth, since there is no {name}",
            collection=collection,
            name=truth.name,
        )
    return truth


_CACHE: dict[tuple[str, ...], RecordedWeb] = {}
"""Collection of the last job of this process; the next job often has the same one."""
_READER_SETTINGS = (
    "TOPICCRAWL_COLLECTIONS",
    "TOPICCRAWL_READER",
    "TOPICCRAWL_READERS",
    "TOPICCRAWL_READER_MEMORY",
    "TOPICCRAWL_READER_SECONDS",
)
"""Settings of page readers."""


def _web(settings: Settings, collection: Path) -> RecordedWeb:
    """Return a collection with its pages parsed by the configured readers; cached."""
    cache_key = str(collection), *(str(settings[name]) for name in _READER_SETTINGS)
    if cache_key not in _CACHE:
        _CACHE.clear()
        web = RecordedWeb.read(collection, settings.getdict("TOPICCRAWL_COLLECTIONS"))
        asyncio.run(_read_all(settings, web))
        _CACHE[cache_key] = web
    return _CACHE[cache_key]


async def _read_all(settings: Settings, web: RecordedWeb) -> None:
    own = LocalReader(reader_of(settings))  # raises for a wrong path
    readers = pool_of(settings, lambda _: None) or own
    try:
        await web.read_all(readers)
    except* NoReaderError as errors:
        logger.warning("%s; pages are parsed in this process", errors.exceptions[0])
        await web.read_all(own)
    finally:
        await readers.close()


def run_job(
    settings: Settings, opts: argparse.Namespace, job: Job, names: Sequence[str]
) -> JobResult:
    """Run a job: replay a topic with each strategy."""
    web = _web(settings, job.collection)
    case, scorer = _case_of(opts, job, web)
    known = orders.read(opts.order) if opts.resume else {}
    began = time.perf_counter()
    harvests, fresh = [], []
    for name in names:
        scorer.sites = SiteWords() if settings.getbool("TOPICCRAWL_SITE_WORDS") else None
        options = settings.copy()
        options.set("TOPICCRAWL_STRATEGY", name, priority="cmdline")
        order = strategy(name, scorer, strategy_parameters(settings, case.topic))
        conditions = conditions_of(settings, opts.batch, case)
        inputs = _inputs(settings, job.collection)
        replay = orders.identity(inputs, case.topic, name, order.signature(), conditions)
        if replay in known:
            harvests.append(harvest(name, known[replay].pages, case))
            continue
        adapter = adapter_of(options, scorer, order)
        replayed = Replay(web, case.topic, scorer, order, conditions, adapter).run()
        found = harvest(name, replayed.fetched, case)
        pages = tuple(replayed.fetched[: case.budget])
        fresh.append(Order(case.topic.name, name, round(found.area, 6), replay, pages))
        harvests.append(found)
    return JobResult(case, harvests, fresh, time.perf_counter() - began)


def _inputs(settings: Settings, collection: Path) -> tuple[object, ...]:
    """Return what the pages of a collection and what is learned from them depend on."""
    file = collection.stat()
    names = sorted(name for name in settings if name.startswith("TOPICCRAWL_ADAPT_"))
    names += ["TOPICCRAWL_ADAPTATION", "TOPICCRAWL_ADAPTER"]
    names += ["TOPICCRAWL_COLLECTIONS", "TOPICCRAWL_READER", "TOPICCRAWL_SITE_WORDS"]
    own = [(name, str(settings[name])) for name in names]
    return collection.name, file.st_size, file.st_mtime_ns, own


def _case_of(opts: argparse.Namespace, job: Job, web: RecordedWeb) -> tuple[Case, CachingScorer]:
    """Return the case and the scorer of a job's topic."""
    labelled = read_truth(job.truth)[job.topic] if job.truth else None
    topic = labelled.topic if labelled else _seeded(resolve(job.topic), opts.seeds, web)
    scorer = CachingScorer(topic)
    if labelled:
        case = labelled_case(web, labelled, opts.budget)
    else:
        case = unlabelled_case(web, topic, scorer, opts.budget)
    if job.draw:
        begun = with_sampled_seeds(web, topic, case.relevant, job.draw)
        case = build_case(web, begun, case.relevant, opts.budget)
    return case, scorer


def with_sampled_seeds(
    web: RecordedWeb, topic: Topic, relevant: frozenset[str], draw: int
) -> Topic:
    """Return a topic with the same number of other seeds, sampled from its relevant pages."""
    rng = random.Random(f"{topic.name} {draw}")  # noqa: S311 - not for secrets
    names = sorted(relevant)
    chosen = rng.sample(names, min(len(names), max(1, len(topic.seeds))))
    seeds = tuple(web.pages[name].url for name in chosen)
    return topic.model_copy(update={"seeds": seeds, "name": f"{topic.name} {SET}{draw + 1}"})


def conditions_of(settings: Settings, batch: int, case: Case) -> Conditions:
    """Return the conditions of a replay for the settings of a crawl and its topic's limits."""
    options = settings.copy()
    options.setdict(case.topic.limits.settings(), priority="spider")
    bounds = limits_of(options)
    return Conditions(
        budget=case.budget,
        batch=batch,
        slow_start=slow_start_of(options),
        robots=options.getbool("ROBOTSTXT_OBEY"),
        limits=Limits(max_depth=bounds.max_depth, max_host_pages=bounds.max_host_pages),
        share=share_of(options),
        traps=traps_of(options),
        seed=options.getint("TOPICCRAWL_ADAPT_SEED"),
    )


def _seeded(topic: Topic, seeds: str, web: RecordedWeb) -> Topic:
    """Return the topic with the seeds of a crawl.

    Raises:
        ConfigurationError: If none of the seeds was recorded.
    """
    found = seeds_of(seeds) if seeds else topic.seeds or default_seeds(topic)
    if not any(web.get(seed) for seed in found):
        raise ConfigurationError(
            "topic {name!r}: the collection has none of its {found} seeds; "
            "pass others with --seeds URL,URL",
            name=topic.name,
            found=len(found),
        )
    return topic.model_copy(update={"seeds": found})


def _save(option: str, path: Path, text: str) -> None:
    with translated(ConfigurationError, orders.NOT_WRITTEN, option=option, path=path):
        path.write_text(text, encoding="utf-8")


class CachingScorer(Scorer):
    """The production scorer with unlimited caches.

    It caches the terms of every page and the score of every link text, so its memory grows with the
    collection, to about the size of its link texts.
    """

    _most_measures = _most_links = sys.maxsize
