"""Examinations of the doctor by name: software, settings and machine."""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from scrapy.exceptions import UsageError

from topiccrawl import __version__
from topiccrawl.errors import ConfigurationError, StateVersionError, StorageError
from topiccrawl.frontier.store import Store
from topiccrawl.messages import NameList, localize, message, tr
from topiccrawl.scheduler.build import check_settings
from topiccrawl.scheduler.checks import check_values, unknown_settings
from topiccrawl.scheduler.findings import Finding, fail, ok, warn
from topiccrawl.scheduler.hooks import check_hooks, load_component
from topiccrawl.storage.lmdb_files import DATA, LOCK, require_readable
from topiccrawl.storage.version import check_pages, check_version, written_by
from topiccrawl.text.idf import chinese_table
from topiccrawl.text.tokens import shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from scrapy.settings import BaseSettings

    Examination = Callable[[BaseSettings], Iterable[Finding]]

GIGA = 1_000_000_000
WARN_FREE, FAIL_FREE = 5 * GIGA, GIGA // 2
"""Bytes of free disk space below which the check warns, and below which it fails."""
FILES = 1024
"""Number of files and sockets that a process should be allowed to open."""
EARLIEST = datetime(2025, 1, 1, tzinfo=UTC).timestamp()
"""Earliest plausible time, seconds since the epoch."""

FOR = {
    "js": ("TOPICCRAWL_JS", message("pages rendered by scripts")),
    "warc": ("WARC_DIR", message("WARC files")),
    "parquet": ("", "topiccrawl articles export FILE.parquet"),
    "metrics": ("", message("/metrics of the dashboard")),
    "scrapyd": ("", message("crawls as scrapyd jobs")),
}
"""Extras, each with the setting that needs it and its purpose."""
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


def versions(_: BaseSettings) -> Iterator[Finding]:
    """Check Python and the dependencies of topiccrawl."""
    own, scrapy = f"topiccrawl {__version__}", f"Scrapy {version('scrapy')}"
    yield ok("python", f"{platform.python_version()}, {own}, {scrapy}")
    needed = _needed()
    if not needed:
        text = tr("topiccrawl is not installed here: its dependencies are unknown")
        yield warn("packages", text, tr("pip install topiccrawl, or run in its environment"))
        return
    wrong = [text for one in needed[""] if (text := _problem(one))]
    if wrong:
        yield fail("packages", "; ".join(wrong), "pip install --upgrade topiccrawl")
    else:
        yield ok("packages", tr("{number} dependencies installed", number=len(needed[""])))


def extras(settings: BaseSettings) -> Iterator[Finding]:
    """Check the optional extras; a missing extra is a failure if the settings need it."""
    needed = _needed()
    for name, (setting, purpose) in FOR.items():
        wrong = [text for one in needed.get(name, ()) if (text := _problem(one))]
        text, remedy = f"{name}: {'; '.join(wrong)}", f"pip install 'topiccrawl[{name}]'"
        if not wrong:
            yield ok("extra", f"{name} ({tr(purpose)})")
        elif setting and str(settings.get(setting) or "0").lower() not in {"0", "false"}:
            remedy = tr("needed by {setting}: {remedy}", setting=setting, remedy=remedy)
            yield fail("extra", text, remedy)
        else:
            remedy = tr("for {purpose}: {remedy}", purpose=tr(purpose), remedy=remedy)
            yield warn("extra", text, remedy)


def dictionary(_: BaseSettings) -> Iterator[Finding]:
    """Check that the Chinese dictionary loads and segments correctly."""
    began = time.perf_counter()
    found = list(shared_tokenizer().words("新能源汽车销量增长"))
    known = len(chinese_table())
    seconds = time.perf_counter() - began
    if not known or not {"新能源", "汽车"} & set(found):
        remedy = "pip install --force-reinstall jieba rjieba topiccrawl"
        yield fail("dictionary", tr("segments 新能源汽车销量增长 as {found}", found=found), remedy)
    else:
        text = tr("loaded in {seconds:.1f} s; {words}", seconds=seconds, words=" ".join(found))
        yield ok("dictionary", text)


def _needed() -> dict[str, list[Requirement]]:
    """Return what topiccrawl needs on this Python, by extra; "" for the required dependencies."""
    found: defaultdict[str, list[Requirement]] = defaultdict(list)
    with suppress(PackageNotFoundError):
        for text in requires("topiccrawl") or []:
            extra, needed = _EXTRA.search(text), Requirement(text)
            name = extra[1] if extra else ""
            if not needed.marker or needed.marker.evaluate({"extra": name}):
                found[name].append(needed)
    return found


def _problem(needed: Requirement) -> str:
    """Return the problem with a package, or "".

    >>> _problem(Requirement("scrapy>=2")), _problem(Requirement("no-such-package>=1"))
    ('', 'no-such-package is missing')
    """
    try:
        installed = version(needed.name)
    except PackageNotFoundError:
        return tr("{package} is missing", package=needed.name)
    if needed.specifier.contains(installed, prereleases=True):
        return ""
    return tr(
        "{package} {installed} is not {needed}",
        package=needed.name, installed=installed, needed=needed.specifier,
    )  # fmt: skip


def disk(settings: BaseSettings) -> Iterator[Finding]:
    """Check that the folders of the state can be written and have free space."""
    for name in ("TOPICCRAWL_DATA_DIR", "WARC_DIR"):
        if settings.get(name):
            yield _folder(name, Path(settings[name]))


def _folder(name: str, folder: Path) -> Finding:
    existing = folder
    while not existing.exists():
        existing = existing.parent
    try:
        with tempfile.TemporaryFile(dir=existing) as file:
            file.write(b"doctor")
        free = shutil.disk_usage(existing).free
    except OSError as error:
        remedy = tr("give this user write access, or choose another folder: {name}=...", name=name)
        return fail("disk", f"{folder}: {error.strerror}", remedy)
    text = tr("{folder}: writable, {free:.1f} GB free", folder=folder, free=free / GIGA)
    if free >= WARN_FREE:
        return ok("disk", text)
    report = fail if free < FAIL_FREE else warn
    remedy = tr("free disk space: a million URLs and their articles take GBs")
    return report("disk", text, remedy)


def state(settings: BaseSettings) -> Iterator[Finding]:
    """Check that this version can use the data folder, its frontiers and stores."""
    folder = Path(settings["TOPICCRAWL_DATA_DIR"])
    parts = [*folder.glob("frontiers/*"), *folder.glob("*.sqlite")]
    parts += [Path(settings["JOBDIR"], "frontier")] if settings.get("JOBDIR") else []
    for place in (folder, *sorted(parts)):
        if denied := _denied(place):
            text = tr("{path}: this user may not read and write it", path=denied)
            yield fail("state", text, tr("give this user read and write access"))
            continue
        try:
            check_version(place)
            if (place / DATA).exists():
                Store(place, readonly=True).close()
                require_readable(place)
            elif place.parent == folder and place.suffix == ".sqlite":
                check_pages(place)
        except StateVersionError as error:
            remedy = tr("use the version that wrote it, or another data folder")
            yield fail("state", localize(error), remedy)
        except StorageError as error:
            remedy = tr("restore it from a backup, or use another data folder")
            yield fail("state", localize(error), remedy)
        else:
            by = written_by(place) or tr("(unknown)")
            written = tr("written by topiccrawl {version}", version=by)
            text = written if place.exists() else tr("no data yet")
            yield ok("state", f"{place}: {text}")


def _denied(place: Path) -> Path | None:
    """Return the folder or file of a state that this user may not read and write, or None."""
    mode, effective = os.R_OK | os.W_OK, os.access in os.supports_effective_ids
    for path in (place, place / DATA, place / LOCK):
        if path.exists() and not os.access(path, mode, effective_ids=effective):
            return path
    return None


def memory(_: BaseSettings) -> Iterator[Finding]:
    """Check the limit of open files."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    text = tr("limit of open files is {number}", number=soft)
    if 0 <= soft < FILES:
        yield warn("files", text, f"ulimit -n {4 * FILES}")
    else:
        yield ok("files", text)


def clock(_: BaseSettings) -> Iterator[Finding]:
    """Check that the time is plausible; dates of articles and delays of hosts depend on it."""
    now = time.time()
    text = datetime.fromtimestamp(now, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    if now < EARLIEST:
        yield fail("clock", text, tr("set the clock of the machine (timedatectl set-ntp true)"))
    else:
        yield ok("clock", text)


_CONSOLES = {
    "TELNETCONSOLE_ENABLED": message("a telnet console"),
    "REMOTE_CONTROL_ENABLED": message("a remote control"),
}


def settings(given: BaseSettings) -> Iterator[Finding]:
    """Check that all settings are valid."""
    try:
        check_values(given)
        check_settings(given)
        check_hooks(given)
    except ConfigurationError as error:
        remedy = tr("correct it in settings, environment or command line")
        yield fail("settings", localize(error), remedy)
    else:
        for line in unknown_settings(given, os.environ):  # they have no effect
            yield warn("settings", line, tr("correct the name, or remove it"))
        text = tr("data folder is {folder}", folder=given["TOPICCRAWL_DATA_DIR"])
        yield ok("settings", text)


def manners(given: BaseSettings) -> Iterator[Finding]:
    """Check the settings that affect site owners and other users of the machine."""
    agent = str(given["USER_AGENT"])
    if "@" not in agent and "://" not in agent:
        remedy = f"USER_AGENT='topiccrawl/{__version__} (+https://you.example/crawler)'"
        text = tr("{agent!r} has no contact address", agent=agent)
        yield warn("user agent", text, remedy)
    if not given.getbool("ROBOTSTXT_OBEY"):
        remedy = tr("ROBOTSTXT_OBEY=1 unless the sites are yours")
        yield warn("robots.txt", tr("is not obeyed"), remedy)
    delay = given.getfloat("DOWNLOAD_DELAY")
    if delay < 0.5:  # noqa: PLR2004 - half of our default
        remedy = tr("set 1 second or more unless the sites are yours")
        yield warn("delay", tr("DOWNLOAD_DELAY is {delay:g} s", delay=delay), remedy)
    for name, console in _CONSOLES.items():
        if given.getbool(name):
            text = tr("{name} opens {console}, which runs any code", name=name, console=tr(console))
            yield warn("door", text, f"{name}=0")
    if agent and delay:
        yield ok("manners", tr("one request to a host every {delay:g} s", delay=delay))


EXAMINATIONS: Mapping[str, Examination] = {
    one.__name__: one
    for one in (versions, extras, settings, manners, dictionary, disk, state, memory, clock)
}
"""The built-in examinations by name."""


def examinations_of(given: BaseSettings) -> dict[str, Examination]:
    """Return all examinations by name: the built-in ones, and those of TOPICCRAWL_EXAMINATIONS.

    Raises:
        SettingError: If an examination cannot be loaded.
    """
    name = "TOPICCRAWL_EXAMINATIONS"
    others = {key: load_component(name, path) for key, path in given.getdict(name).items() if path}
    return {**EXAMINATIONS, **others}


def examine(given: BaseSettings, names: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield the findings of the named examinations, or of all.

    Raises:
        UsageError: If a name is unknown.
    """
    known = examinations_of(given)
    for name in names:
        if name not in known:
            text = message("unknown examination {name!r}; known are {names}")
            raise UsageError(tr(text, name=name, names=NameList(known)), print_help=False)
    for name in names or known:
        yield from known[name](given)
