"""Tests of the detection of truncated frontier files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from scrapy.settings import Settings

from tests.users import ordinary_user
from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import Ending, Outcome, Seed
from topiccrawl.model import Offer
from topiccrawl.scheduler.context import CrawlSpec
from topiccrawl.scheduler.frontiers import LocalFrontiers

QUICK = {
    "AUTOTHROTTLE_ENABLED": False, "CONCURRENT_REQUESTS_PER_DOMAIN": 9, "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": False,
}  # fmt: skip
SPEC = CrawlSpec(name="nev", owner="nev")
USE = """
import sys
from tests.unit.storage.test_lmdb_files import open_and_read
open_and_read(sys.argv[1])
"""


def frontiers_in(data: str) -> LocalFrontiers:
    settings = Settings({**QUICK, "TOPICCRAWL_DATA_DIR": data})
    settings.setmodule("topiccrawl.settings", priority="default")
    return LocalFrontiers(settings)


def fill(data: str, pages: int) -> str:
    """Fill a frontier with 200 links per page; return its path."""
    frontiers = frontiers_in(data)
    frontier = frontiers.open("nev", SPEC)
    frontier.push([Seed("http://a.test/")])
    for _ in range(pages):
        (lease,) = frontier.pop(1)
        links = [Offer(f"{lease.url}{n}/", 0, (1.0,), "锚" * 40, "文" * 60) for n in range(200)]
        frontier.finish(lease, Outcome(Ending.CRAWLED), links)
    frontier.close()
    return frontiers.place("nev")


def open_and_read(data: str) -> None:
    """Open a frontier and read all of it; print the error."""
    frontiers = frontiers_in(data)
    try:
        frontier = frontiers.open("nev", SPEC)
        rows = sum(1 for _ in frontier.export())
        frontier.close()
        print(f"{rows} rows")  # noqa: T201
    except StorageError as error:
        print(error)  # noqa: T201


@pytest.mark.parametrize("left", [0.001, 0.01, 0.3, 0.7, 0.97])
def test_truncated_frontier_is_refused(tmp_path: Path, left: float) -> None:
    path = Path(fill(str(tmp_path), 20), "data.mdb")
    size = path.stat().st_size
    os.truncate(path, int(size * left))
    done = subprocess.run(
        [sys.executable, "-c", USE, str(tmp_path)], capture_output=True, text=True, check=False,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert done.returncode == 0, f"ended by {done.returncode}: {done.stderr[-500:]}"
    assert "is truncated to" in done.stdout


@pytest.mark.parametrize("denied", ["", "nev/data.mdb", "nev/lock.mdb", "nev/LOCK"])
def test_frontier_without_access_is_refused_with_a_remedy(denied: str) -> None:
    with TemporaryDirectory() as data:  # the folders of pytest are closed to other users
        fill(data, 1)
        for path in (Path(data), *Path(data).rglob("*")):
            path.chmod(0o777)
        Path(data, "frontiers", denied).chmod(0o555)
        remedy = "Permission denied.*: give this user write access"
        with ordinary_user(), pytest.raises(StorageError, match=remedy):
            frontiers_in(data).open("nev" if denied else "new", SPEC)


def test_complete_frontier_can_be_reopened(tmp_path: Path) -> None:
    (place,) = {fill(str(tmp_path), pages) for pages in (3, 1, 9)}
    reader = LocalFrontiers(Settings()).read(place)
    assert reader.counts()["crawled"] == 13
    reader.close()
