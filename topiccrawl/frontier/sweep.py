"""New values for old rows, a few at a time, when nothing else is to be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.rows import decode, may_move

if TYPE_CHECKING:
    from topiccrawl.frontier.offers import Intake
    from topiccrawl.frontier.state import State

END = "end"


def sweep(state: State, intake: Intake, version: int, n: int) -> int:
    """Look at up to n rows in the order of their keys; how many were looked at.

    Rows of another strategy version that are queued, or in the errorQueue for their low value, get
    evidence, value and lane anew. 0 when all rows were seen since the version changed.
    """
    done, at = state.swept
    if done == version and at == END:
        return 0
    start = bytes.fromhex(at) if done == version else b""
    keys = _keys(state, start, n)
    for key in keys:
        _renew(state, intake, key)
    reached = (int.from_bytes(keys[-1], "big") + 1).to_bytes(13, "big")[1:] if keys else b""
    state.swept = (version, reached.hex() if len(keys) == n and any(reached) else END)
    return len(keys)


def _keys(state: State, start: bytes, n: int) -> list[bytes]:
    cursor = state.store.txn.cursor(state.store.urls)
    keys: list[bytes] = []
    found = cursor.set_range(start) if start else cursor.first()
    while found and len(keys) < n:
        keys.append(cursor.key())
        found = cursor.next()
    return keys


def _renew(state: State, intake: Intake, key: bytes) -> None:
    data = state.store.txn.get(key, b"", state.store.urls) or b""
    if not may_move(data):
        return
    row = decode(data)
    if intake.refresh(row):
        state.move(row, key, *intake.judge(row, row.lane))
        state.put(key, row)
