"""Difference of two states: changed sections, and added points of the history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topiccrawl.storage.status import State


def difference(old: State, new: State) -> State:
    """Return the sections of ``new`` that differ from ``old``; of a history, the added points.

    >>> difference({"a": 1, "series": {"every": 1, "points": [1]}},
    ...            {"a": 1, "series": {"every": 1, "points": [1, 2]}})
    {'series': {'every': 1, 'points': [2], 'from': 1}}
    """
    found = {name: value for name, value in new.items() if old.get(name) != value}
    if "series" in found and "series" in old:
        found["series"] = _grown(old["series"], new["series"])
    return found


def _grown(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    known, points = len(old["points"]), new["points"]
    if old["every"] == new["every"] and points[:known] == old["points"]:
        return {**new, "from": known, "points": points[known:]}
    return new
