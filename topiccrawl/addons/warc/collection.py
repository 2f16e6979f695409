"""Hooks of the archive: reading of WARC files as collections, and removal of forgotten pages."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from topiccrawl.addons.warc.middleware import check_archive
from topiccrawl.errors import ConfigurationError
from topiccrawl.messages import message, tr

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy.settings import BaseSettings

    from topiccrawl.addons.warc.archive import Exchange


def recorded(path: Path) -> Iterator[Exchange]:
    """Yield the latest response of each URL in a WARC file of any program, in order.

    Revisits have the body of the record that they refer to, if the file has it.

    Raises:
        ConfigurationError: If warcio is not installed, or the file is damaged or not a WARC file.
    """
    require_warcio(path)
    from topiccrawl.addons.warc.archive import LatestPages

    pages = LatestPages([path])
    yield from filter(None, map(pages.get, pages.of(path)))


def require_warcio(path: object) -> None:
    """Raise an error if WARC files cannot be read.

    Raises:
        ConfigurationError: If warcio is not installed.
    """
    if find_spec("warcio") is None:
        raise ConfigurationError("{path}: needs warcio: pip install 'topiccrawl[warc]'", path=path)


def forget(settings: BaseSettings, names: Sequence[str]) -> Iterator[str]:
    """Remove forgotten pages from the archive; yield lines that report the result.

    Args:
        settings: Settings with WARC_DIR; without it, the call does nothing.
        names: URLs, or ``site:HOST``.

    Raises:
        SettingError: If warcio is not installed, or the folder cannot be written.
        StorageError: If the disk fails; the call can be repeated.
    """
    if not settings.get("WARC_DIR"):
        return
    check_archive(settings)
    from topiccrawl.addons.warc import warc

    folder = Path(settings["WARC_DIR"])
    done = warc.forget(folder, names)
    counts = done._asdict()
    yield tr("{folder}: {records} records removed from {files} files", folder=folder, **counts)
    if done.open:
        text = message("{folder}: incomplete files: {open}, which their crawls complete and clean")
        yield tr(text, folder=folder, **counts)
