"""Merge the runs of a crawl into one state: nodes that share a frontier, or the last run."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from topiccrawl.extensions.history import POINTS, Point
from topiccrawl.scheduler.finish import FAILURES
from topiccrawl.storage.runs import EMPTY, RunReport, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_HOSTS = 40
LATEST = 40
_NODE = ("run", "totals", "waiting")
"""Sections of the state that describe one node."""


def crawls(records: Sequence[RunReport]) -> list[dict[str, Any]]:
    """Return frontier, topic and number of live nodes of each recorded crawl, latest first."""
    found: dict[str, dict[str, Any]] = {}
    for one in records:
        shown = {name: one.state["run"][name] for name in ("frontier", "topic", "began")}
        found.setdefault(shown["frontier"], {**shown, "live": 0})["live"] += one.live
    return list(found.values())


def overview(records: Sequence[RunReport]) -> list[dict[str, Any]]:
    """Return the entries of the list of crawls, latest first."""
    return [_entry(merged_state(records, one["frontier"]), records) for one in crawls(records)]


def _entry(state: State, records: Sequence[RunReport]) -> dict[str, Any]:
    run, place = state["run"], state["run"]["frontier"]
    own = [one for one in records if one.state["run"]["frontier"] == place]
    live = any(one.live for one in own)
    seen = time.time() - min(one.age for one in own)
    if live:
        status = "paused" if state["waiting"]["reason"] == "paused" else "runs"
    elif all(one.state["run"]["finished"] is None for one in own):
        status = "dead"
    else:
        status = "failed" if run["reason"] in FAILURES else "ended"
    hosts, listed = sum(state["hosts"]["states"].values()), state["hosts"]["list"]
    return {
        "frontier": place, "topic": run["topic"], "spider": run.get("spider", ""),
        "site": listed[0]["name"] if len(listed) == 1 else "", "hosts": hosts, "state": status,
        "reason": state["waiting"]["reason"] if live else run["reason"],
        "began": run["began"], "seen": round(seen), "seconds": run["seconds"],
        "pages": state["totals"]["pages"], "relevant": state["totals"]["relevant"],
        "articles": state["totals"]["articles"], "nodes": sum(one.live for one in own),
    }  # fmt: skip


def merged_state(records: Sequence[RunReport], frontier: str) -> State:
    """Return the state of a crawl.

    It merges the live runs or, if there are none, the runs that overlap with the last run.

    Args:
        records: Records of runs, latest first.
        frontier: Frontier of the crawl; "" for the latest crawl, preferably a live one.
    """
    if not records:
        return dict(EMPTY)
    live = [one for one in records if one.live]
    wanted = frontier or (live or records)[0].state["run"]["frontier"]
    own = [one for one in records if one.state["run"]["frontier"] == wanted]
    if not own:
        return dict(EMPTY)
    last = own[0].state["run"]["began"]
    ended = [one for one in own if one is own[0] or _end(one) > last]
    return _merge_runs([one for one in own if one.live] or ended)


def _end(one: RunReport) -> float:
    run = one.state["run"]
    return float(run["finished"] or run["began"] + run["seconds"])


def _merge_runs(runs: Sequence[RunReport]) -> State:
    states = [one.state for one in runs]
    newest = min(runs, key=lambda one: one.age).state
    running = any(one.live for one in runs)
    began = min(state["run"]["began"] for state in states)
    ended = max(map(_end, runs))
    latest = [one for state in states for one in state["latest"]]
    run = {
        **newest["run"],
        "node": ", ".join(sorted(state["run"]["node"] for state in states)),
        "began": began,
        "seconds": round(ended - began, 1),
        "finished": None if running else ended,
    }
    return {
        **newest,
        "run": run,
        "totals": _totals(states),
        "waiting": _waiting(states),
        "hosts": _hosts(states),
        "latest": sorted(latest, key=lambda one: float(one["at"]))[-LATEST:],
        "series": _series(states),
        "review": _review([state["review"] for state in states if state.get("review")]),
        "nodes": [{**{name: one.state[name] for name in _NODE}, "live": one.live} for one in runs],
    }


def _sums(counted: Iterable[Mapping[str, Any]]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for one in counted:
        sums.update(one)
    return sums


def _totals(states: Sequence[State]) -> dict[str, Any]:
    rates = [state["totals"]["recent"] for state in states if state["totals"]["pages"]]
    recent = round(sum(rates) / len(rates), 4) if rates else 0.0
    return {**_sums(state["totals"] for state in states), "recent": recent}


def _waiting(states: Sequence[State]) -> dict[str, Any]:
    """Return why a crawl waits: all nodes wait; the reason is that of the last active node."""
    found: list[dict[str, Any]] = [state["waiting"] for state in states]
    crawling = [one for one in found if not one["reason"]]
    return crawling[0] if crawling else min(found, key=lambda one: float(one["seconds"]))


def _merge_hosts(listed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge the entries of hosts that several nodes list, since hosts move between nodes."""
    found: dict[str, dict[str, Any]] = {}
    for one in listed:
        known = found.get(one["name"])
        if known is None:
            found[one["name"]] = dict(one)
            continue
        pages = known["pages"] + one["pages"]
        worth = known["worth"] * known["pages"] + one["worth"] * one["pages"]
        busy = max(known, one, key=lambda host: (host["active"], host["queued"]))
        sums = {name: known[name] + one[name] for name in ("queued", "active", "failed")}
        worths = round(worth / pages, 3) if pages else 0.0
        found[one["name"]] = {**busy, **sums, "pages": pages, "worth": worths}
    return list(found.values())


def _hosts(states: Sequence[State]) -> dict[str, Any]:
    hosts = _merge_hosts([one for state in states for one in state["hosts"]["list"]])
    hosts.sort(key=lambda one: (-one["active"], -one["queued"], -one["pages"]))
    sums = _sums(state["hosts"]["states"] for state in states)
    return {"states": sums, "list": hosts[:MAX_HOSTS]}


def _series(states: Sequence[State]) -> dict[str, Any]:
    if len(states) == 1:
        found: dict[str, Any] = states[0]["series"]
        return found
    histories = [
        (state["run"]["began"], [Point(*point) for point in state["series"]["points"]])
        for state in states
    ]
    return {"every": 0.0, "points": [list(point) for point in merge_histories(histories)]}


def merge_histories(histories: Sequence[tuple[float, Sequence[Point]]]) -> list[Point]:
    """Merge the histories of several nodes; times count from the start of the first run.

    Args:
        histories: Start of each run, seconds since the epoch, and its points.

    >>> points = [Point(0.0, 0, 0, 0.0, 0), Point(10.0, 8, 4, 0.5, 1)]
    >>> [(p.at, p.pages, p.recent) for p in merge_histories([(100.0, points), (105.0, points)])]
    [(0.0, 0, 0.0), (5.0, 0, 0.0), (10.0, 8, 0.5), (15.0, 16, 0.5)]
    """
    first = min((began for began, _ in histories), default=0.0)
    events = sorted(
        (began - first + point.at, node, point)
        for node, (began, points) in enumerate(histories)
        for point in points
    )
    latest: dict[int, Point] = {}
    found: dict[float, Point] = {}
    for at, node, point in events:
        latest[node] = point
        found[round(at, 1)] = _total(round(at, 1), list(latest.values()))
    return thinned(list(found.values()), POINTS)


def thinned(points: list[Any], most: int) -> list[Any]:
    """Reduce points to about ``most``, at most one more, with the first and the last one.

    >>> thinned([1, 2, 3, 4, 5, 6], 3)
    [1, 3, 5, 6]
    """
    step = max(1, -(-len(points) // most))
    return [*points[:-1:step], *points[-1:]]


def _total(at: float, points: list[Point]) -> Point:
    seen = [point for point in points if point.pages]
    recent = sum(point.recent for point in seen) / len(seen) if seen else 0.0
    pages, relevant, articles = (
        sum(getattr(point, name) for point in points) for name in ("pages", "relevant", "articles")
    )
    return Point(at, pages, relevant, round(recent, 4), articles)


def _review(reviews: Sequence[State]) -> State:
    """Merge the reviews of nodes; their seeds and hosts already cover the whole crawl."""
    if not reviews:
        return {}
    met = _sums(review["met"] for review in reviews)
    best = sorted({tuple(one) for review in reviews for one in review["best"]}, reverse=True)
    bare = {url: feed for review in reviews for url, feed in review.get("bare", ())}
    return {
        **reviews[0],
        "best": [list(one) for one in best[:5]],
        "bare": [list(one) for one in bare.items()][:3],
        "met": met,
        "never": [term for term in reviews[0]["never"] if term not in met],
    }
