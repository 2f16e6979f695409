"""Prometheus metrics of crawls; needs prometheus-client (extra ``metrics``).

Names end in their unit; counters end in ``_total``. docs/operations.md explains each metric.
"""

from __future__ import annotations

from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any

from topiccrawl.extensions.wait_reason import REASONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prometheus_client.core import Metric

    from topiccrawl.storage.runs import State

    Family = tuple[str, str, str, list[tuple[dict[str, Any], float]]]
    """A metric: kind (``gauge`` or ``counter``), name, help text, and samples with labels."""

COUNTERS = {
    "pages": ("topiccrawl_pages", "Pages parsed in this run."),
    "relevant": ("topiccrawl_relevant_pages", "Articles on topic, and lists of them, in this run."),
    "hubs": ("topiccrawl_hub_pages", "Lists of articles on topic in this run."),
    "storage_errors": ("topiccrawl_storage_errors", "Articles that could not be stored."),
    "bytes": ("topiccrawl_response_bytes", "Bytes of responses received."),
}
RESULTS = {
    "articles": "new", "articles_updated": "updated", "articles_unchanged": "unchanged",
    "duplicates": "reprint",
}  # fmt: skip


def available() -> bool:
    """Return whether prometheus-client is installed."""
    return find_spec("prometheus_client") is not None


def exposition(states: Sequence[State]) -> tuple[bytes, str]:
    """Return the text of /metrics for the given crawls, and its content type."""
    from prometheus_client import CollectorRegistry, ProcessCollector
    from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

    registry = CollectorRegistry()
    registry.register(_Collector(states))  # type: ignore[arg-type,unused-ignore]
    ProcessCollector(registry=registry)
    return generate_latest(registry), CONTENT_TYPE_LATEST


class _Collector:
    """Prometheus collector of the metrics of states."""

    def __init__(self, states: Sequence[State]) -> None:
        self._states = states

    def collect(self) -> list[Metric]:
        return families(self._states)


def families(states: Sequence[State]) -> list[Metric]:
    """Return the metrics of crawls, one family per name; families without samples are omitted."""
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    kinds: dict[str, Any] = {"gauge": GaugeMetricFamily, "counter": CounterMetricFamily}
    found: dict[str, Any] = {}
    for state in states:
        runs = map(_run_metrics, state.get("nodes") or [state])
        for kind, name, words, samples in chain(*runs, _crawl_metrics(state)):
            for labels, value in samples:
                if name not in found:
                    found[name] = kinds[kind](name, words, labels=list(labels))
                found[name].add_metric(list(labels.values()), value)
    return list(found.values())


def _crawl_name(run: State) -> str:
    """Return the name of a run's frontier, since a worker may have several for one topic.

    >>> _crawl_name({"frontier": "/data/frontiers/task-7.qq.com"}), _crawl_name({"frontier": "redis://h/0#nev"})
    ('task-7.qq.com', 'nev')
    """
    return str(run["frontier"]).rpartition("/")[2].rpartition("#")[2]


def _run_metrics(state: State) -> Iterator[Family]:
    """Yield the metrics of one run."""
    run, totals, waiting = state["run"], state["totals"], state["waiting"]
    own = {"topic": run["topic"], "node": run["node"], "crawl": _crawl_name(run)}
    info = {**own, "version": run["version"], "strategy": run["strategy"]}
    yield "gauge", "topiccrawl_run_info", "One sample per run.", [(info, 1)]
    for name, (metric, words) in COUNTERS.items():
        yield "counter", metric, words, [(own, totals.get(name, 0))]
    results = [({**own, "fate": fate}, totals.get(name, 0)) for name, fate in RESULTS.items()]
    yield "counter", "topiccrawl_articles", "Articles by result.", results
    for metric, words, value in (
        ("topiccrawl_run_seconds", "Seconds since the run began.", run["seconds"]),
        ("topiccrawl_spooled_articles", "Articles spooled to disk.", totals.get("spooled", 0)),
        ("topiccrawl_waiting_seconds", "Seconds since the last page.", waiting["seconds"]),
    ):
        yield "gauge", metric, words, [(own, value)]
    reasons = [
        ({**own, "reason": one}, float(waiting["reason"] == one)) for one in filter(None, REASONS)
    ]
    yield "gauge", "topiccrawl_waiting", "1 for the reason why the run waits.", reasons


def _crawl_metrics(state: State) -> Iterator[Family]:
    """Yield the metrics of a whole crawl, over all nodes."""
    own = {"topic": state["run"]["topic"], "crawl": _crawl_name(state["run"])}
    totals, pages = state["totals"], state["totals"]["pages"]
    rates = [
        ({**own, "window": "recent"}, totals["recent"]),
        ({**own, "window": "all"}, totals["relevant"] / pages if pages else 0.0),
    ]
    words = "Share of parsed pages that are on topic, of the last 100 and of all."
    yield "gauge", "topiccrawl_harvest_ratio", words, rates
    sizes = [({**own, "queue": name}, n) for name, n in state["queues"].items()]
    yield "gauge", "topiccrawl_queue_urls", "URLs by queue.", sizes
    errors = [({**own, "reason": name}, n) for name, n in state["errors"].items()]
    yield "gauge", "topiccrawl_error_urls", "URLs in the errorQueue by reason.", errors
    hosts = [({**own, "state": name}, n) for name, n in state["hosts"]["states"].items()]
    yield "gauge", "topiccrawl_hosts", "Hosts by state.", hosts
    changes = [(own, state["terms"]["changes"])]
    yield "counter", "topiccrawl_topic_changes", "Changes of the topic.", changes
