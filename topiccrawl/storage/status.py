"""State of a crawl for the dashboard and reports.

A *state* maps names of sections to plain JSON values:

    control   name (of its orders), paused, speed
    run       id, node, topic, strategy, frontier, began, seconds, finished, reason, version
    totals    pages, relevant, hubs, articles, duplicates ..., recent (rate of the last pages)
    queues    prior, normal, leased, crawled, error, known
    errors    number by reason
    waiting   reason (see ``waiting``), seconds, detail
    hosts     states (number by state), list (see ``frontier.view.census``)
    terms     changes, own (terms), now (terms and weights)
    latest    last stored articles
    series    every (seconds), points (see ``figures.Point``)
    review    diagnosis of a low harvest: best pages, terms found and not found, seeds,
              unreachable hosts
    nodes     run, totals, waiting and live of each node
    crawls    frontier, topic and live nodes of each known crawl

Sections that change slowly, which the dashboard reads from the stores:

    chains    stories with the most reprints, and their reprints
    learnt    terms that the last topic change added to the user's
    changes   changes of the topic (see ``storage.changes``)
    patterns  URL patterns of sites
"""

from __future__ import annotations

from typing import Any

State = dict[str, Any]
"""Sections by name."""

EMPTY: State = {
    "run": {
        "id": "", "node": "", "topic": "topiccrawl", "strategy": "", "frontier": "", "began": 0.0,
        "seconds": 0.0, "finished": 0.0, "reason": "", "version": "",
    },
    "totals": {"pages": 0, "relevant": 0, "articles": 0, "duplicates": 0, "recent": 0.0},
    "queues": {"prior": 0, "normal": 0, "leased": 0, "crawled": 0, "error": 0, "known": 0},
    "errors": {},
    "waiting": {"reason": "", "seconds": 0.0, "detail": ""},
    "hosts": {"states": {}, "list": []},
    "terms": {"changes": 0, "own": [], "now": []},
    "latest": [],
    "series": {"every": 1.0, "points": []},
    "review": {},
    "nodes": [],
}  # fmt: skip
"""State without a crawl."""
