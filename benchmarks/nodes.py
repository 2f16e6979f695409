"""Crash test of several nodes on one Redis: lost pages and politeness after random kills.

    python -m benchmarks.nodes [--runs 3] [--pages 2000] [--nodes 3] [--events 6] [--waiting 400]
                               [--outage 0] [--seed 1] [--json FILE]

Crawls a demo web with several processes, each with its own server, so that the logs show which
node asked which host when: by the kernel's count, as servers may read late on a busy machine. Nodes
are killed with SIGKILL, stopped with SIGSTOP and woken, end with SIGINT and join at random moments.
At the end: pages never answered, pages answered twice (and how many of them a node had leased when
it was killed or stopped), hosts asked by two nodes at once, and gaps shorter than the delay,
robots.txt and redirects included. Then, without failures: how evenly three nodes share the
work, and their speed-up over one node if responses are slow. Needs the extra ``test``
(a Redis server), or REDIS_TEST_URL. ``--events`` is the number of things done to nodes in a run,
``--waiting`` the number of pages of the timed crawl (0: none), ``--outage`` the number of seconds
for which Redis is unavailable in an additional run.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.nodes_outage import outage
from benchmarks.nodes_trial import LATENCY, SETTINGS, EvenWeb, Trial, web_of
from benchmarks.output import command_line, show
from tests.redis_server import running

if TYPE_CHECKING:
    import argparse

    from benchmarks.nodes_report import Report
    from lab.demo import Web


def _trial(
    web: Web | EvenWeb, nodes: int, events: int, seed: int, settings: dict[str, str], latency: float
) -> Report:
    with tempfile.TemporaryDirectory(prefix="topiccrawl-nodes-") as folder, running() as url:
        trial = Trial(Path(folder), web, url, nodes, settings=settings, latency=latency)
        return trial.run(events, seed)


def _kills(options: argparse.Namespace) -> list[Report]:
    reports = []
    for run in range(options.runs):
        web = web_of(options.seed + run, options.pages)
        report = _trial(web, options.nodes, options.events, options.seed + run, SETTINGS, LATENCY)
        reports.append(report)
        print(
            f"run {run}: {report.pages} pages in {report.seconds:.0f} s, lost"
            f" {len(report.missing)}, fetched again {report.refetched} ({len(report.silent)} of"
            f" nodes timed out, {len(report.needless)} not held; leases of the killed, stopped:"
            f" {report.allowed}), hosts with two nodes at once {len(report.shared)}, too soon"
            f" {len(report.hasty)} (as read: {report.misread}; the server was late by"
            f" {report.late:.2f} s), split {report.split}, {', '.join(report.events)}; timed out"
            f" after seconds: {', '.join(f'{seconds:.1f}' for seconds in report.timeouts) or '-'}",
            flush=True,
        )  # fmt: skip
        lists = report.missing, report.shared, report.hasty, report.needless, report.silent
        for trouble in chain.from_iterable(troubles[:9] for troubles in lists):
            print("   ", trouble)
    return reports


def _speed(options: argparse.Namespace) -> dict[str, float]:
    """Return the speed-up by several nodes if answers take long, and how evenly they share."""
    settings = {**SETTINGS, "DOWNLOAD_DELAY": "0", "CONCURRENT_REQUESTS": "4"}
    web = EvenWeb(50 * options.nodes, max(2, options.waiting // (50 * options.nodes)))
    one, many = (_trial(web, n, 0, 0, settings, 1.0) for n in (1, options.nodes))
    mean = sum(many.split) / len(many.split)
    figures = {
        "nodes_speed_up": one.seconds / many.seconds,
        "nodes_speed_up_after_start": (one.seconds - one.first) / (many.seconds - many.first),
        "nodes_uneven": max(abs(pages / mean - 1) for pages in many.split),
        "nodes_latency_lost": len(one.missing) + len(many.missing),
    }
    print(
        f"waiting {one.pages} pages: one node {one.seconds:.1f} s (first request after"
        f" {one.first:.1f}), {options.nodes} nodes {many.seconds:.1f} s ({many.first:.1f}), split"
        f" {many.split}"
    )
    return figures


def main() -> int:
    """Print the results; exit 1 if pages were lost or requests were impolite."""
    options = command_line(
        __doc__, runs=3, pages=2000, waiting=400, nodes=3, events=6, outage=0.0, seed=1
    ).parse_args()
    reports = _kills(options)
    figures: dict[str, float] = {
        "nodes_runs": len(reports),
        "nodes_pages": sum(report.pages for report in reports),
        "nodes_events": sum(len(report.events) for report in reports),
        "nodes_lost": sum(len(report.missing) for report in reports),
        "nodes_refetched": sum(report.refetched for report in reports),
        "nodes_leases_of_killed": sum(report.allowed for report in reports),
        "nodes_refetched_needless": sum(len(report.needless) for report in reports),
        "nodes_shared_hosts": sum(len(report.shared) for report in reports),
        "nodes_too_soon": sum(len(report.hasty) for report in reports),
    }
    if options.waiting:
        figures |= _speed(options)
    if options.outage:
        figures |= outage(options.nodes, options.pages, options.outage, options.seed)
    show(figures, options.json)
    return 0 if all(report.good for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
