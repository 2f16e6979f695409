"""WARC files for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.warc import archive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from topiccrawl.addons.warc.archive import Exchange


def exchanges(path: Path) -> Iterator[Exchange]:
    """Yield the responses of a WARC file of any program in order, without revisits.

    Records with an invalid date or status are skipped and logged.

    Raises:
        ConfigurationError: If the file is not a WARC file or is damaged.
    """
    with archive._readable(path):
        yield from filter(
            None, (archive.exchange_of(record) for record, _ in archive._records(path))
        )
