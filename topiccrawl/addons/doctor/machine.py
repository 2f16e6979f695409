"""Disk, memory and clock of this machine."""

from __future__ import annotations

import resource
import shutil
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from topiccrawl.errors import StateVersionError
from topiccrawl.scheduler.findings import fail, ok, warn
from topiccrawl.storage.backup import check_version, written_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

    from topiccrawl.scheduler.findings import Finding

GIGA = 1_000_000_000
LITTLE, SCARCE = 5 * GIGA, GIGA // 2
"""Bytes of free disk below which the check warns, or fails."""
FILES = 1024
"""Files and sockets that a process should be allowed to have open."""
EARLIEST = datetime(2025, 1, 1, tzinfo=UTC).timestamp()
"""A clock that shows an earlier time is wrong."""


def disk(settings: BaseSettings) -> Iterator[Finding]:
    """Check that state can be written, and that there is free disk."""
    for name in ("TOPICCRAWL_DATA_DIR", "WARC_DIR"):
        if settings.get(name):
            yield _folder(name, Path(settings[name]))


def _folder(name: str, folder: Path) -> Finding:
    made = folder
    while not made.exists():
        made = made.parent
    try:
        with tempfile.TemporaryFile(dir=made) as file:
            file.write(b"doctor")
        free = shutil.disk_usage(made).free
    except OSError as error:
        remedy = f"let this user write there, or name another folder: {name}=..."
        return fail("disk", f"{folder}: {error.strerror}", remedy)
    text = f"{folder}: can be written, {free / GIGA:.1f} GB free"
    if free < SCARCE:
        return fail("disk", text, "make room; a million URLs and their articles take some GB")
    if free < LITTLE:
        return warn("disk", text, "a million URLs and their articles take some GB: make room")
    return ok("disk", text)


def state(settings: BaseSettings) -> Iterator[Finding]:
    """Check that no newer version of topiccrawl wrote the data folder, its frontiers or stores."""
    folder = Path(settings["TOPICCRAWL_DATA_DIR"])
    parts = [*folder.glob("frontiers/*"), *folder.glob("*.sqlite")]
    parts += [Path(settings["JOBDIR"], "frontier")] if settings.get("JOBDIR") else []
    for place in (folder, *sorted(parts)):
        try:
            check_version(place)
        except StateVersionError as error:
            yield fail("state", str(error), "pip install --upgrade, or name another data folder")
        else:
            yield ok("state", f"{place}: written by topiccrawl {written_by(place) or '(unknown)'}")


def memory(_: BaseSettings) -> Iterator[Finding]:
    """Check the limit of open files."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < FILES:
        yield warn("files", f"{soft} may be open", f"ulimit -n {4 * FILES}")
    else:
        yield ok("files", f"{soft} may be open")


def clock(_: BaseSettings) -> Iterator[Finding]:
    """Check that the time is plausible: articles' dates and hosts' delays depend on it."""
    now = time.time()
    text = datetime.fromtimestamp(now, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    if now < EARLIEST:
        yield fail("clock", text, "set the machine's clock (timedatectl set-ntp true)")
    else:
        yield ok("clock", text)
