"""WARC files as collections of recorded pages."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from topiccrawl.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from topiccrawl.addons.warc.archive import Exchange


def recorded(path: Path) -> Iterator[Exchange]:
    """Yield the responses of any program's WARC file in their order.

    Raises:
        ConfigurationError: warcio is not installed, or the file is not WARC or is damaged.
    """
    if find_spec("warcio") is None:
        raise ConfigurationError(f"{path}: needs warcio: pip install 'topiccrawl[warc]'")
    from topiccrawl.addons.warc.archive import exchanges

    yield from exchanges(path)
