"""What a frontier's folder says of itself: format, strategy, owner; other crawls are refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from topiccrawl.errors import StateError, StateVersionError

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.frontier.contract import Strategy
    from topiccrawl.frontier.store import Store

FORMAT = 6
ABOUT, OWNER = "about", "owner"


def check_format(path: Path, about: bytes | None) -> None:
    """Refuse what another version wrote, before its tables are looked for.

    Raises:
        StateVersionError: It did.
    """
    found = FORMAT if about is None else json.loads(about)["format"]
    if found != FORMAT:
        message = (
            f"{path}: written in format {found}, this version has {FORMAT}:"
            " begin anew with -a fresh=1, or carry it over: `scrapy frontier export` with the"
            " version that wrote it, `scrapy frontier import` with this one"
        )
        raise StateVersionError(message)


def check(store: Store, strategy: Strategy) -> None:
    """Refuse state of another strategy; a new folder is marked as this one's.

    Raises:
        StateVersionError: It is of another.
    """
    wanted = {"format": FORMAT, "strategy": strategy.name, "fields": list(strategy.fields)}
    found = store.load(ABOUT)
    if found is None and not store.readonly:
        store.save(ABOUT, wanted)
    elif found != wanted:
        message = (
            f"{store.path}: holds a frontier of {found}, this crawl needs {wanted};"
            " begin anew with -a fresh=1, or name another folder with -s TOPICCRAWL_DATA_DIR=…"
        )
        raise StateVersionError(message)


def claim(store: Store, owner: str) -> None:
    """Refuse state of another owner; "" claims nothing.

    Raises:
        StateError: It is another's.
    """
    known = store.load(OWNER)
    if owner and known is None:
        store.save(OWNER, owner)
    elif owner and known != owner:
        message = (
            f"{store.path}: holds the frontier of {known!r}, this crawl is for {owner!r};"
            " begin anew with -a fresh=1, or name another JOBDIR"
        )
        raise StateError(message)
