"""Examinations of the doctor, by name; those of the settings and of the machine are here."""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from topiccrawl import __version__
from topiccrawl.addons.doctor.packages import dictionary, extras, versions
from topiccrawl.commands.setting_names import unknown_settings
from topiccrawl.errors import ConfigurationError, StateVersionError
from topiccrawl.scheduler.build import check_settings
from topiccrawl.scheduler.checks import check_values
from topiccrawl.scheduler.findings import Finding, fail, ok, warn
from topiccrawl.scheduler.hooks import check_hooks, loaded
from topiccrawl.storage.backup import check_version, written_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from scrapy.settings import BaseSettings

    Round = Callable[[BaseSettings], Iterable[Finding]]

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


_DOORS = {
    "TELNETCONSOLE_ENABLED": "a telnet console",
    "REMOTE_CONTROL_ENABLED": "a remote control",
}


def settings(given: BaseSettings) -> Iterator[Finding]:
    """Check that all settings can be read."""
    try:
        check_values(given)
        check_settings(given)
        check_hooks(given)
    except ConfigurationError as error:
        yield fail("settings", str(error), "correct it in settings, environment or command line")
    else:
        yield from names(given)
        yield ok("settings", f"state in {given['TOPICCRAWL_DATA_DIR']}")


def names(given: BaseSettings) -> Iterator[Finding]:
    """Warn of names of settings, or in the environment, that have no effect."""
    for line in unknown_settings(given, os.environ):
        yield warn("settings", line, "correct the name, or take it away")


def manners(given: BaseSettings) -> Iterator[Finding]:
    """Check the settings that concern site owners and other users of the machine."""
    agent = str(given["USER_AGENT"])
    if "@" not in agent and "://" not in agent:
        remedy = f"USER_AGENT='topiccrawl/{__version__} (+https://you.example/crawler)'"
        yield warn("user agent", f"{agent!r} names no address of yours", remedy)
    if not given.getbool("ROBOTSTXT_OBEY"):
        yield warn("robots.txt", "is not obeyed", "ROBOTSTXT_OBEY=1 unless the sites are yours")
    delay = given.getfloat("DOWNLOAD_DELAY")
    if delay < 0.5:  # noqa: PLR2004 - half of our default
        remedy = "1 second or more for sites that are not yours"
        yield warn("delay", f"DOWNLOAD_DELAY is {delay:g} s", remedy)
    for name, door in _DOORS.items():
        if given.getbool(name):
            yield warn("door", f"{name} opens {door}, which runs any code", f"{name}=0")
    if agent and delay:
        yield ok("manners", f"one request to a host every {delay:g} s")


ROUNDS: Mapping[str, Round] = {
    "versions": versions,
    "extras": extras,
    "settings": settings,
    "manners": manners,
    "dictionary": dictionary,
    "disk": disk,
    "state": state,
    "memory": memory,
    "clock": clock,
}


def rounds_of(given: BaseSettings) -> dict[str, Round]:
    """Return all examinations by name: those above, and those of TOPICCRAWL_EXAMINATIONS.

    Raises:
        SettingError: One cannot be loaded.
    """
    name = "TOPICCRAWL_EXAMINATIONS"
    others = {key: loaded(name, path) for key, path in given.getdict(name).items() if path}
    return {**ROUNDS, **others}


def examine(given: BaseSettings, names: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield what is found, of all or of what is named.

    Raises:
        UsageError: If nothing is examined by that name.
    """
    rounds = rounds_of(given)
    for name in names:
        if name not in rounds:
            raise UsageError(f"nothing is examined by the name {name!r}: {', '.join(rounds)}",
                             print_help=False)  # fmt: skip
    for name in names or rounds:
        yield from rounds[name](given)
