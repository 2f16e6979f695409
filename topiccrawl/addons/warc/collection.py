"""The archive for other parts: collections of recorded pages are read, forgotten pages removed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from topiccrawl.errors import ConfigurationError, SettingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy.settings import BaseSettings

    from topiccrawl.addons.warc.archive import Exchange


def recorded(path: Path) -> Iterator[Exchange]:
    """Yield the responses of any program's WARC file in their order.

    Raises:
        ConfigurationError: warcio is not installed, or the file is not WARC or is damaged.
    """
    if find_spec("warcio") is None:
        raise ConfigurationError("{path}: needs warcio: pip install 'topiccrawl[warc]'", path=path)
    from topiccrawl.addons.warc.archive import exchanges

    yield from exchanges(path)


def forget(settings: BaseSettings, names: Sequence[str]) -> Iterator[str]:
    """Remove forgotten pages from the archive; yield lines that say what was done.

    Args:
        settings: WARC_DIR names the archive; nothing is done without one.
        names: URLs, or ``site:HOST``.

    Raises:
        SettingError: warcio is not installed.
        StorageError: Repeat the call; it is idempotent.
    """
    if not settings.get("WARC_DIR"):
        return
    if find_spec("warcio") is None:
        raise SettingError("WARC_DIR needs warcio: pip install 'topiccrawl[warc]'")
    from topiccrawl.addons.warc import removal

    folder = Path(settings["WARC_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    done = removal.forget(folder, names)
    yield f"{folder}: {done.records} records taken out of {done.files} files"
    if done.open:
        yield f"{folder}: {done.open} unfinished: the crawl that completes them does it"
