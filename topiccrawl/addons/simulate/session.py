"""Work of ``scrapy simulate``: replay a collection, topic by topic, and report the results."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from topiccrawl.addons.simulate import drawing, plot
from topiccrawl.addons.simulate.collection import RecordedWeb
from topiccrawl.addons.simulate.harvest import BASELINE, Case, harvest, labelled_case, own_case
from topiccrawl.addons.simulate.memory import RememberingScorer
from topiccrawl.addons.simulate.replay import Conditions, Replay
from topiccrawl.addons.simulate.report import Areas, figures, summary, table
from topiccrawl.addons.simulate.truth import read_truth
from topiccrawl.commands.terminal import say
from topiccrawl.errors import ConfigurationError
from topiccrawl.frontier.contract import Limits
from topiccrawl.links.strategies import DEFAULT, strategy
from topiccrawl.links.traps import TrapRules
from topiccrawl.scheduler.build import limits_of, share_of
from topiccrawl.spiders.arguments import adapter_of, seeds_of, strategy_parameters
from topiccrawl.topics.topic import default_seeds, resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from scrapy.settings import Settings

    from topiccrawl.addons.simulate.drawing import Judged
    from topiccrawl.addons.simulate.harvest import Harvest
    from topiccrawl.topics.topic import Topic


class Session:
    """Replays with a crawl's settings.

    Args:
        settings: The crawl's.
        opts: Of the command.
    """

    def __init__(self, settings: Settings, opts: argparse.Namespace) -> None:
        self._settings = settings
        self._opts = opts
        self._orders: list[str] = []

    def run(self, collection: Path) -> None:
        """Replay a collection with each strategy; show and write what was asked for.

        Raises:
            ConfigurationError: What is named cannot be read, used or written.
        """
        if self._opts.plot:
            plot.check()
        strategies = list(dict.fromkeys(self._opts.strategy or [BASELINE, DEFAULT]))
        for name in strategies:
            strategy(name)  # a mistyped name ends the command before the first replay
        web = RecordedWeb.read(collection, self._settings.getdict("TOPICCRAWL_COLLECTIONS"))
        judged: list[Judged] = []
        areas: Areas = {name: {} for name in strategies}
        for case, scorer in self._cases(web):
            began = time.perf_counter()
            harvests = [self._replay(web, case, scorer, name) for name in strategies]
            seconds = time.perf_counter() - began
            pages = sum(one.pages for one in harvests)
            say(*table(case, harvests), f"  {pages} pages in {seconds:.1f} s", "")
            judged.append((case, harvests))
            for one in harvests:
                areas[one.name][case.topic.name] = one.area
        say(*summary(areas))
        _write(self._opts, collection.name, judged, figures(areas, DEFAULT))
        if self._opts.order:
            _save("--order", self._opts.order, "".join(self._orders))

    def _cases(self, web: RecordedWeb) -> Iterator[tuple[Case, RememberingScorer]]:
        """Yield the case and the scorer of each topic."""
        opts = self._opts
        truth = read_truth(opts.truth) if opts.truth else {}
        for name in opts.topic or truth:
            if opts.truth:
                if name not in truth:
                    msg = f"{opts.truth} has no topic {name!r}: choose among {', '.join(truth)}"
                    raise ConfigurationError(msg)
                case = labelled_case(web, truth[name], opts.budget)
                yield case, RememberingScorer(case.topic)
                continue
            topic = _seeded(resolve(name), opts.seeds, web)
            scorer = RememberingScorer(topic)
            yield own_case(web, topic, scorer, opts.budget), scorer

    def _replay(
        self, web: RecordedWeb, case: Case, scorer: RememberingScorer, name: str
    ) -> Harvest:
        order = strategy(name, scorer, strategy_parameters(self._settings, case.topic))
        options = self._settings.copy()
        options.set("TOPICCRAWL_STRATEGY", name, priority="cmdline")
        adapter = adapter_of(options, scorer, order)
        replayed = Replay(web, case.topic, scorer, order, self._conditions(case), adapter).run()
        found = harvest(name, replayed.fetched, case)
        line = {"topic": case.topic.name, "strategy": name, "area": round(found.area, 6)}
        pages = replayed.fetched[: case.budget]
        self._orders.append(json.dumps({**line, "pages": pages}, ensure_ascii=False) + "\n")
        return found

    def _conditions(self, case: Case) -> Conditions:
        """The crawl's settings, as far as a replay has them."""
        options, own = self._settings, case.topic.limits
        bounds = limits_of(options)
        traps = TrapRules(
            max_length=options.getint("URLLENGTH_LIMIT"),
            max_slashes=options.getint("TOPICCRAWL_TRAP_SLASHES"),
        )
        return Conditions(
            budget=case.budget,
            batch=self._opts.batch,
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
        msg = (
            f"topic {topic.name!r}: the collection holds none of its {len(found)} seeds; "
            "name some with --seeds URL,URL"
        )
        raise ConfigurationError(msg)
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
        msg = f"{option} {path}: cannot be written: {error.strerror}"
        raise ConfigurationError(msg) from error
