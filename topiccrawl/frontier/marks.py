"""Which pages are being processed, remembered even if the process dies this instant.

A small file of slots written in place: what a killed process wrote last is in the operating system.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from topiccrawl.frontier.keys import KEY_BYTES

if TYPE_CHECKING:
    from pathlib import Path

EMPTY = bytes(KEY_BYTES)


class Marking(Protocol):
    """What remembers which pages are being processed."""

    def left(self) -> set[bytes]:
        """Keys that a former process had begun and not finished."""
        ...

    def set(self, key: bytes) -> None:
        """Mark a key; twice equals once."""
        ...

    def unset(self, key: bytes) -> None:
        """Remove the mark of a key, if there is one."""
        ...

    def clear(self) -> None:
        """Forget all marks."""
        ...

    def close(self) -> None:
        """Forget all marks and close; twice equals once."""
        ...

    def abandon(self) -> None:
        """Close and leave the marks as they are, as a killed process does."""
        ...


class Marks:
    """Keys of pages whose processing has begun and not ended.

    Args:
        path: The file; made where it is missing.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._slots: dict[bytes, int] = {}
        self._free: list[int] = []

    def left(self) -> set[bytes]:
        """Keys that a former process had begun and not finished."""
        data = os.pread(self._file, os.fstat(self._file).st_size, 0)
        slots = {data[at : at + KEY_BYTES] for at in range(0, len(data), KEY_BYTES)}
        return {key for key in slots if len(key) == KEY_BYTES and key != EMPTY}

    def clear(self) -> None:
        """Forget all marks."""
        os.ftruncate(self._file, 0)
        self._slots.clear()
        self._free.clear()

    def set(self, key: bytes) -> None:
        """Mark a key; twice equals once."""
        if key not in self._slots:
            slot = self._free.pop() if self._free else len(self._slots)
            self._slots[key] = slot
            os.pwrite(self._file, key, slot * KEY_BYTES)

    def unset(self, key: bytes) -> None:
        """Remove the mark of a key, if there is one."""
        slot = self._slots.pop(key, None)
        if slot is not None:
            self._free.append(slot)
            os.pwrite(self._file, EMPTY, slot * KEY_BYTES)

    def close(self) -> None:
        """Forget all marks and close; twice equals once."""
        if self._file >= 0:
            self.clear()
            os.close(self._file)
            self._file = -1

    def abandon(self) -> None:
        """Close and leave the marks as they are, as a killed process does."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
