"""A state as Prometheus metrics, by prometheus-client: the optional extra ``metrics``.

Names end in their unit; counters end in ``_total``. docs/operations.md explains each metric and
when to act.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.extensions.wait_reason import REASONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prometheus_client.core import Metric

    from topiccrawl.storage.status import State

COUNTERS = {
    "pages": ("topiccrawl_pages", "Pages parsed in this run."),
    "relevant": ("topiccrawl_relevant_pages", "Articles on topic, and lists of such, in this run."),
    "hubs": ("topiccrawl_hub_pages", "Pages of this run that list articles on topic."),
    "storage_errors": ("topiccrawl_storage_errors", "Articles that could not be stored."),
    "bytes": ("topiccrawl_response_bytes", "Bytes of answers received."),
}
FATES = {
    "articles": "new", "articles_updated": "updated", "articles_unchanged": "unchanged",
    "duplicates": "reprint",
}  # fmt: skip


def available() -> bool:
    """Return whether prometheus-client is installed."""
    return find_spec("prometheus_client") is not None


def exposition(states: Sequence[State]) -> tuple[bytes, str]:
    """The text of /metrics for some crawls, and its content type."""
    from prometheus_client import CollectorRegistry, ProcessCollector
    from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

    registry = CollectorRegistry()
    registry.register(_Collector(states))  # type: ignore[arg-type,unused-ignore]
    ProcessCollector(registry=registry)
    return generate_latest(registry), CONTENT_TYPE_LATEST


class Family(NamedTuple):
    """One metric: its kind (``gauge`` or ``counter``), name, meaning, and samples with labels."""

    kind: str
    name: str
    words: str
    samples: list[tuple[dict[str, Any], float]]


class _Collector:
    """A collector of some states."""

    def __init__(self, states: Sequence[State]) -> None:
        self._states = states

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import (
            CounterMetricFamily,
            GaugeMetricFamily,
        )

        kinds: dict[str, Any] = {"gauge": GaugeMetricFamily, "counter": CounterMetricFamily}
        for family in families(self._states):
            labels = list(family.samples[0][0])
            metric = kinds[family.kind](family.name, family.words, labels=labels)
            for values, value in family.samples:
                metric.add_metric([values[label] for label in labels], value)
            yield metric


def families(states: Sequence[State]) -> list[Family]:
    """All metrics of some crawls; those of one name together, those without samples left out."""
    found: dict[str, Family] = {}
    for state in states:
        runs = state.get("nodes") or [state]
        for family in (*(one for run in runs for one in _of_run(run)), *_of_crawl(state)):
            known = found.setdefault(family.name, family)
            if known is not family:
                known.samples.extend(family.samples)
    return [family for family in found.values() if family.samples]


def _name(run: State) -> str:
    """Of a run's frontier: a worker has several at a time, perhaps of one topic.

    >>> _name({"frontier": "/data/frontiers/task-7.qq.com"}), _name({"frontier": "redis://h/0#nev"})
    ('task-7.qq.com', 'nev')
    """
    return str(run["frontier"]).rpartition("/")[2].rpartition("#")[2]


def _of_run(state: State) -> Iterator[Family]:
    """Yield the metrics of one run."""
    run, totals, waiting = state["run"], state["totals"], state["waiting"]
    own = {"topic": run["topic"], "node": run["node"], "crawl": _name(run)}
    info = {**own, "version": run["version"], "strategy": run["strategy"]}
    yield Family("gauge", "topiccrawl_run_info", "One sample a run.", [(info, 1)])
    for name, (metric, words) in COUNTERS.items():
        yield Family("counter", metric, words, [(own, totals.get(name, 0))])
    fates = [({**own, "fate": fate}, totals.get(name, 0)) for name, fate in FATES.items()]
    yield Family("counter", "topiccrawl_articles", "Articles by what became of them.", fates)
    for metric, words, value in (
        ("topiccrawl_run_seconds", "Seconds since the run began.", run["seconds"]),
        ("topiccrawl_spooled_articles", "Articles on disk, store away.", totals.get("spooled", 0)),
        ("topiccrawl_waiting_seconds", "Seconds without a page.", waiting["seconds"]),
    ):
        yield Family("gauge", metric, words, [(own, value)])
    reasons = [
        ({**own, "reason": reason}, float(waiting["reason"] == reason))
        for reason in REASONS
        if reason
    ]
    yield Family("gauge", "topiccrawl_waiting", "One where this is why nothing comes.", reasons)


def _of_crawl(state: State) -> Iterator[Family]:
    """Yield the metrics of a whole crawl, over all nodes."""
    own = {"topic": state["run"]["topic"], "crawl": _name(state["run"])}
    totals, pages = state["totals"], state["totals"]["pages"]
    rates = [
        ({**own, "window": "recent"}, totals["recent"]),
        ({**own, "window": "all"}, totals["relevant"] / pages if pages else 0.0),
    ]
    words = "Share of parsed pages that are on topic: of the last 100, and of all."
    yield Family("gauge", "topiccrawl_harvest_ratio", words, rates)
    sizes = [({**own, "queue": name}, n) for name, n in state["queues"].items()]
    yield Family("gauge", "topiccrawl_queue_urls", "URLs by queue.", sizes)
    errors = [({**own, "reason": name}, n) for name, n in state["errors"].items()]
    yield Family("gauge", "topiccrawl_error_urls", "URLs in the errorQueue by reason.", errors)
    hosts = [({**own, "state": name}, n) for name, n in state["hosts"]["states"].items()]
    yield Family("gauge", "topiccrawl_hosts", "Hosts by what they do at the moment.", hosts)
    changes = [(own, state["terms"]["changes"])]
    yield Family("counter", "topiccrawl_topic_changes", "Changes of the topic.", changes)
