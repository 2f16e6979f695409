"""File of ``--order``: fetched pages of each replay; replays in it need not run again."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.errors import ConfigurationError, translated
from topiccrawl.messages import message

if TYPE_CHECKING:
    from pathlib import Path


_START = b'{"topic": "'
"""Start of each line."""


NOT_WRITTEN = message("{option} {path}: cannot be written: {strerror}")


class Order(NamedTuple):
    """Pages of a replay, in the order of their fetches.

    Attributes:
        topic: Name of the topic.
        strategy: Name of the strategy.
        area: Area under the harvest curve, relative to the oracle's.
        replay: Identity of the replay: a digest of all that its result depends on.
        pages: Keys of the fetched pages.
    """

    topic: str
    strategy: str
    area: float
    replay: str
    pages: tuple[str, ...]


def identity(*parts: object) -> str:
    """Return the digest of the parts of a replay, by their ``repr``.

    >>> identity("best-first", 8) == identity("best-first", 8) != identity("best-first", 16)
    True
    """
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def begin(path: Path, *, resume: bool) -> None:
    """Empty the file, or remove its last line if a resumed run has written only part of it.

    Call it before the first ``append``, so that a run that fails earlier leaves the file alone.

    Raises:
        ConfigurationError: If the file cannot be written.
    """
    with (
        translated(ConfigurationError, NOT_WRITTEN, option="--order", path=path),
        path.open("a+b" if resume else "w+b") as file,
    ):
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)


def append(path: Path, orders: list[Order]) -> None:
    """Append a line for each replay, and sync the file.

    Raises:
        ConfigurationError: If the file cannot be written.
    """
    with (
        translated(ConfigurationError, NOT_WRITTEN, option="--order", path=path),
        path.open("a", encoding="utf-8") as file,
    ):
        file.writelines(json.dumps(order._asdict(), ensure_ascii=False) + "\n" for order in orders)
        file.flush()
        os.fsync(file.fileno())


def read(path: Path) -> dict[str, Order]:
    """Return the replays in the file by identity, none if there is no file.

    A last line that was written only in part is left out.

    Raises:
        ConfigurationError: If the file cannot be read, or is not one of ``--order``.
    """
    orders = {}
    if not path.exists():
        return {}
    with translated(ConfigurationError, message("{path}: cannot be read: {strerror}"), path=path):
        *lines, part = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            order = Order(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise _no_replay(path, number) from error
        orders[order.replay] = order
    if not _START.startswith(part[: len(_START)]):
        raise _no_replay(path, len(lines) + 1)
    return orders


def _no_replay(path: Path, line: int) -> ConfigurationError:
    return ConfigurationError(
        "--order {path}, line {line}: not a replay: pass another file or omit --resume",
        path=path,
        line=line,
    )
