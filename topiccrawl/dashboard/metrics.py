"""A state as Prometheus metrics, by prometheus-client: the optional extra ``metrics``.

Names end in their unit; what only grows ends in ``_total``. docs/operations.md says what each means
and what to do when.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from topiccrawl.dashboard.waiting import REASONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prometheus_client.core import Metric

    from topiccrawl.dashboard.source import State

    Samples = Sequence[tuple[dict[str, str], float]]

COUNTERS = {
    "pages": ("topiccrawl_pages", "Pages parsed in this run."),
    "relevant": ("topiccrawl_relevant_pages", "Pages of this run that are on topic."),
    "storage_errors": ("topiccrawl_storage_errors", "Articles that could not be stored."),
    "bytes": ("topiccrawl_response_bytes", "Bytes of answers received."),
}
FATES = {
    "articles": "new", "articles_updated": "updated", "articles_unchanged": "unchanged",
    "duplicates": "reprint",
}  # fmt: skip


def available() -> bool:
    """Whether prometheus-client is installed."""
    return find_spec("prometheus_client") is not None


def exposition(state: State) -> tuple[bytes, str]:
    """The text of /metrics for a state, and its content type."""
    from prometheus_client import CollectorRegistry, ProcessCollector  # noqa: PLC0415 - an extra
    from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest  # noqa: PLC0415

    registry = CollectorRegistry()
    registry.register(_Told(state))  # type: ignore[arg-type,unused-ignore]
    ProcessCollector(registry=registry)
    return generate_latest(registry), CONTENT_TYPE_LATEST


class _Told:
    """A collector of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def collect(self) -> Iterator[Metric]:
        for run in self._state.get("nodes") or [self._state]:
            yield from _of_run(run)
        yield from _of_crawl(self._state)


def _of_run(state: State) -> Iterator[Metric]:
    """What one process counts."""
    run, totals = state["run"], state["totals"]
    labels = {"topic": run["topic"], "node": run["node"]}
    info = {"version": run["version"], "strategy": run["strategy"]}
    yield _gauge("topiccrawl_run_info", "One for each run that is told.", [({**labels, **info}, 1)])
    for name, (metric, words) in COUNTERS.items():
        yield _counter(metric, words, [(labels, totals.get(name, 0))])
    fates = [({**labels, "fate": fate}, totals.get(name, 0)) for name, fate in FATES.items()]
    yield _counter("topiccrawl_articles", "Articles of this run by what became of them.", fates)
    seconds = [(labels, run["seconds"])]
    yield _gauge("topiccrawl_run_seconds", "Seconds since the run began.", seconds)
    spooled = [(labels, totals.get("spooled", 0))]
    words = "Articles on disk until the store is back."
    yield _gauge("topiccrawl_spooled_articles", words, spooled)
    waiting = state["waiting"]
    quiet = [(labels, waiting["seconds"])]
    yield _gauge("topiccrawl_waiting_seconds", "Seconds without a page; 0 while it crawls.", quiet)
    reasons = [
        ({**labels, "reason": reason}, int(waiting["reason"] == reason))
        for reason in REASONS
        if reason
    ]
    yield _gauge("topiccrawl_waiting", "One for the reason why nothing is fetched.", reasons)


def _of_crawl(state: State) -> Iterator[Metric]:
    """What is true of the crawl as a whole, over all nodes."""
    topic, totals = {"topic": state["run"]["topic"]}, state["totals"]
    pages = totals["pages"]
    rates = [
        ({**topic, "window": "recent"}, totals["recent"]),
        ({**topic, "window": "all"}, totals["relevant"] / pages if pages else 0.0),
    ]
    words = "Share of parsed pages that are on topic: of the last 100, and of all."
    yield _gauge("topiccrawl_harvest_ratio", words, rates)
    sizes = [({**topic, "queue": name}, n) for name, n in state["queues"].items()]
    yield _gauge("topiccrawl_queue_urls", "URLs by queue.", sizes)
    errors = [({**topic, "reason": name}, n) for name, n in state["errors"].items()]
    yield _gauge("topiccrawl_error_urls", "URLs in the errorQueue by reason.", errors)
    hosts = [({**topic, "state": name}, n) for name, n in state["hosts"]["states"].items()]
    yield _gauge("topiccrawl_hosts", "Hosts by what they do at the moment.", hosts)
    changes = [(topic, state["terms"]["changes"])]
    yield _counter("topiccrawl_topic_changes", "Changes of the topic by what was learnt.", changes)


def _gauge(name: str, words: str, samples: Samples) -> Metric:
    from prometheus_client.core import GaugeMetricFamily  # noqa: PLC0415

    return _filled(GaugeMetricFamily, name, words, samples)


def _counter(name: str, words: str, samples: Samples) -> Metric:
    from prometheus_client.core import CounterMetricFamily  # noqa: PLC0415

    return _filled(CounterMetricFamily, name, words, samples)


def _filled(kind: Any, name: str, words: str, samples: Samples) -> Metric:  # noqa: ANN401
    labels = list(samples[0][0]) if samples else []
    family: Metric = kind(name, words, labels=labels)
    for values, value in samples:
        family.add_metric([values[label] for label in labels], value)  # type: ignore[attr-defined]
    return family
