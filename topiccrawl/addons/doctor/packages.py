"""Checks of the installed software."""

from __future__ import annotations

import platform
import re
import sys
import time
from collections import defaultdict
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from topiccrawl import __version__
from topiccrawl.scheduler.findings import Finding, fail, ok, warn
from topiccrawl.text.idf import chinese_table
from topiccrawl.text.tokens import shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings


PYTHON = (3, 11)
FOR = {
    "js": ("TOPICCRAWL_JS", "pages rendered by scripts"),
    "warc": ("WARC_DIR", "WARC files"),
    "parquet": ("", "scrapy articles export FILE.parquet"),
    "plot": ("", "scrapy simulate --plot FILE.png"),
    "metrics": ("", "/metrics of the dashboard"),
    "scrapyd": ("", "crawls as scrapyd jobs"),
}
"""Extras, each with the setting that needs it and its purpose."""
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


def versions(_: BaseSettings) -> Iterator[Finding]:
    """Check Python and the dependencies of topiccrawl."""
    python = platform.python_version()
    if sys.version_info < PYTHON:
        yield fail("python", python, "install Python 3.11 or newer")
    else:
        yield ok("python", f"{python}, topiccrawl {__version__}, Scrapy {version('scrapy')}")
    needed = _needed()
    if not needed:
        text = "topiccrawl is not installed here: its dependencies are unknown"
        yield warn("packages", text, "pip install topiccrawl, or run in its environment")
        return
    wrong = [text for one in needed[""] if (text := _problem(one))]
    if wrong:
        yield fail("packages", "; ".join(wrong), "pip install --upgrade topiccrawl")
    else:
        yield ok("packages", f"{len(needed[''])} dependencies installed")


def extras(settings: BaseSettings) -> Iterator[Finding]:
    """Check the optional extras; a missing extra is a failure if the settings need it."""
    needed = _needed()
    for name, (setting, purpose) in FOR.items():
        wrong = [text for one in needed.get(name, ()) if (text := _problem(one))]
        text, remedy = f"{name}: {'; '.join(wrong)}", f"pip install 'topiccrawl[{name}]'"
        if not wrong:
            yield ok("extra", f"{name} ({purpose})")
        elif setting and str(settings.get(setting) or "0").lower() not in {"0", "false"}:
            yield fail("extra", text, f"needed by {setting}: {remedy}")
        else:
            yield warn("extra", text, f"for {purpose}: {remedy}")


def dictionary(_: BaseSettings) -> Iterator[Finding]:
    """Check that the Chinese dictionary loads and segments correctly."""
    began = time.perf_counter()
    found = list(shared_tokenizer().words("新能源汽车销量增长"))
    known = len(chinese_table())
    seconds = time.perf_counter() - began
    if not known or not {"新能源", "汽车"} & set(found):
        remedy = "pip install --force-reinstall jieba rjieba topiccrawl"
        yield fail("dictionary", f"segments 新能源汽车销量增长 as {found}", remedy)
    else:
        yield ok("dictionary", f"loaded in {seconds:.1f} s; {' '.join(found)}")


def _needed() -> dict[str, list[Requirement]]:
    """Return the requirements of topiccrawl by extra; "" for the required dependencies."""
    found: defaultdict[str, list[Requirement]] = defaultdict(list)
    try:
        texts = requires("topiccrawl") or []
    except PackageNotFoundError:
        return {}
    for text in texts:
        extra = _EXTRA.search(text)
        found[extra.group(1) if extra else ""].append(Requirement(text))
    return found


def _problem(needed: Requirement) -> str:
    """Return the problem with a package, or "".

    >>> _problem(Requirement("scrapy>=2")), _problem(Requirement("no-such-package>=1"))
    ('', 'no-such-package is missing')
    """
    try:
        installed = version(needed.name)
    except PackageNotFoundError:
        return f"{needed.name} is missing"
    if needed.specifier.contains(installed, prereleases=True):
        return ""
    return f"{needed.name} {installed} is not {needed.specifier}"
