"""Fixtures of all tests: Hypothesis profiles, a clean environment, servers."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis

from tests import laws, mongo_server
from tests.crawl.run import MEASURED
from tests.redis_server import running
from topiccrawl.scheduler.checks import FROM_ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

FOREIGN = (
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SCRAPY_SETTINGS_MODULE", "SCRAPY_PROJECT", "REDIS_URL", "MONGODB_URI"),
    *FROM_ENVIRONMENT,
)
"""Variables of a user's shell or of a test's crawl; they are removed before the tests begin."""
for foreign in FOREIGN:
    os.environ.pop(foreign, None)
    os.environ.pop(foreign.upper(), None)
UNTRACED = str(Path(__file__).with_name("untraced"))
"""Folder of a module that each process of a run under coverage imports at its start."""
if MEASURED in os.environ and UNTRACED not in os.environ.get("PYTHONPATH", ""):
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (UNTRACED, os.environ.get("PYTHONPATH")))
    )
os.environ["PYTHON_COLORS"] = "0"  # argparse of Python 3.14 colours help where FORCE_COLOR is set

laws.load()


@cache
def may_be_slow(file: Path) -> bool:
    """Return whether a file marks tests as slow, or imports the marks of another."""
    text = file.read_text("utf-8")
    return "mark.slow" in text or "    pytestmark," in text


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without slow tests if only these are asked for: loading them takes long."""
    asked = config.option.markexpr == "slow" and collection_path.suffix == ".py"
    return True if asked and not may_be_slow(collection_path) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Find slow tests that ``make test-slow`` would miss; multiply examples for ``make fuzz``."""
    slow = (item for item in items if item.get_closest_marker("slow"))
    if missed := [item.nodeid for item in slow if not may_be_slow(item.path)]:
        raise pytest.UsageError(
            f"`make test-slow` finds mark.slow or an imported pytestmark only: {missed}"
        )
    if laws.TIMES:
        laws.multiply(items)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Print why tests were repeated; below all else these and those not run, with reasons."""
    repeated = terminalreporter.stats.get("rerun", ())
    for report in repeated:
        terminalreporter.write_sep("_", f"first try of {report.nodeid}")
        terminalreporter.line(report.longreprtext)
    yield
    skipped = Counter(report.longrepr[2] for report in terminalreporter.stats.get("skipped", ()))
    if terminalreporter.config.option.markexpr:
        expression = terminalreporter.config.option.markexpr
        terminalreporter.line(f"run: tests that are {expression}; make test-all runs all")
    for reason, number in sorted(skipped.items()):
        terminalreporter.line(f"not run: {number} tests: {reason.removeprefix('Skipped: ')}")
    for name in dict.fromkeys(report.nodeid for report in repeated):
        terminalreporter.line(f"failed at the first try: {name}")


@pytest.fixture(autouse=True)
def _own_process_state() -> Iterator[None]:
    """Restore the environment and the working folder after each test; Scrapy changes them."""
    variables, folder = dict(os.environ), Path.cwd()
    yield
    os.chdir(folder)
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """URL of a Redis server for the tests of this run."""
    with running() as url:
        yield url


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """URL of an empty Redis database."""
    with redis.Redis.from_url(redis_server) as client:
        client.flushdb()
    return redis_server


@pytest.fixture(scope="session")
def mongo_uri() -> Iterator[str]:
    """URI of a MongoDB server for the tests of this run."""
    with mongo_server.running() as uri:
        yield uri
