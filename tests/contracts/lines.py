"""Entries of exported lines, without the checks of the command, and recounted queue sizes."""

from __future__ import annotations

import json
from typing import Any

from topiccrawl.frontier.entries import About, Entry, HostEntry, SeenEntry, UrlEntry
from topiccrawl.frontier.view import QUEUES, View

KINDS = {"frontier": About, "host": HostEntry, "url": UrlEntry, "seen": SeenEntry}


def from_line(line: str) -> Entry:
    """Return the entry of a line; fields of later versions are ignored."""
    fields = json.loads(line)
    kind: Any = KINDS[fields["kind"]]
    return kind(**{n: _frozen(v) for n, v in fields.items() if n in kind._fields})  # type: ignore[no-any-return]


def recount(view: View) -> dict[str, int]:
    """Count the queues' sizes URL by URL, to check ``counts``."""
    sizes = {name: sum(1 for _ in view.iterate(name)) for name in QUEUES}
    sizes["known"] = sum(isinstance(entry, UrlEntry) for entry in view.export())
    return sizes


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
