"""Test of the wheel: installation with old and new pip in empty folders, up to a first table."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

BEFORE_3_12 = pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="pip before 23.2 does not start with Python 3.12"
)
ROOT = Path(__file__).parents[2]
SOURCES = ("topiccrawl", "pyproject.toml", "setup.py", "README.md", "LICENSE", "NOTICE")
MINUTES = 20
PAGES = 40
MEGABYTES = 400  # of a new environment with pip, without bytecode
PROGRAM = """
import lxml.html.clean, readability
import scrapy_redis, pymongo, redis, msgpack, jieba, sklearn
from topiccrawl.extract.body import find_readable
print(len(find_readable("<p>" + "新能源汽车销量继续增长，充电桩建设加快。" * 40).text) > 400)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy, because a build writes beside its sources."""
    source = tmp_path_factory.mktemp("source")
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    built = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(built), str(source))
    (file,) = built.iterdir()
    return file


@pytest.mark.parametrize(
    "pip", [pytest.param("pip==22.3", marks=BEFORE_3_12), "pip==23.2.1", "pip"]
)
def test_wheel_installs_and_a_first_crawl_writes_a_table(
    tmp_path: Path, wheel: Path, pip: str, capsys: pytest.CaptureFixture[str]
) -> None:
    began, home = time.time(), tmp_path / "home"
    home.mkdir()
    run(sys.executable, "-m", "venv", "venv", at=tmp_path)
    binaries = tmp_path / "venv" / "bin"
    python, topiccrawl = str(binaries / "python"), str(binaries / "topiccrawl")
    run(python, "-m", "pip", "install", "-q", "--upgrade", pip, at=home)
    version = run(python, "-m", "pip", "--version", at=home).split()[1]
    assert version == pip.partition("==")[2] or pip == "pip"
    package = f"topiccrawl[redis] @ {wheel.as_uri()}"  # the extra of older instructions
    run(python, "-m", "pip", "install", "-q", "--no-compile", package, at=home)
    installed = time.time() - began
    size = size_of(tmp_path / "venv")
    assert size <= MEGABYTES
    assert run(python, "-c", PROGRAM, at=home).splitlines()[-1] == "True"
    project = home / "my-news"
    with demo() as (proxy, seeds):
        run(topiccrawl, "init", "my-news", at=home)
        words = ("crawl", "新能源汽车", "--seeds", seeds, "--pages", str(PAGES), "-o", "all.xlsx")
        quick = ("-s", "DOWNLOAD_DELAY=0", "-s", "AUTOTHROTTLE_ENABLED=0")
        run(topiccrawl, *words, *quick, at=project, http_proxy=proxy)
    sheet = openpyxl.load_workbook(project / "all.xlsx").active
    assert sheet is not None
    names, *rows = sheet.values
    assert rows
    found = [datetime.fromisoformat(str(row[names.index("found")])) for row in rows]
    run(topiccrawl, "report", "crawl.html", at=project)
    assert "新能源汽车" in (project / "crawl.html").read_text("utf-8")
    first = min(found).timestamp() - began
    with capsys.disabled():
        line = f"installed after {installed:.0f} s, first article after {first:.0f} s (5 commands)"
        sys.stdout.write(f"\npip {version}: {line}, {len(rows)} articles, {size:.0f} MB\n")


def size_of(folder: Path) -> float:
    """Total size of the files of an installation in MB."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e6


@contextmanager
def demo() -> Iterator[tuple[str, str]]:
    """Proxy and seeds of the demo web, served from the checkout."""
    command = (sys.executable, "-m", "lab.demo", "serve", "--pages", "200", "--no-faults")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            proxy = process.stdout.readline().partition("http_proxy=")[2].strip()
            yield proxy, process.stdout.readline().partition("seeds: ")[2].strip()
        finally:
            process.terminate()


def run(*command: str, at: Path = ROOT, http_proxy: str = "") -> str:
    """Run a command to its end; return its output."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if http_proxy:
        kept |= {"http_proxy": http_proxy, "no_proxy": ""}
    done = subprocess.run(
        command, cwd=at, capture_output=True, text=True, timeout=60 * MINUTES, check=False, env=kept
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout
