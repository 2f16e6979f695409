"""The package installs with old pips, such as the one that a Python's venv brings, and works."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
SOURCES = ("topiccrawl", "pyproject.toml", "setup.py", "README.md", "LICENSE", "scrapy.cfg")
MINUTES = 20
PROGRAM = """
import lxml.html.clean, justext, readability, trafilatura
from topiccrawl.news.body import find_readable
print(len(find_readable("<p>" + "新能源汽车销量继续增长，充电桩建设加快。" * 40).text) > 400)
"""


@pytest.mark.parametrize("pip", ["22.3", "23.2.1"])
def test_an_old_pip_installs_the_package_with_what_it_imports(tmp_path: Path, pip: str) -> None:
    source = tmp_path / "source"  # a build writes beside its sources
    source.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    python = tmp_path / "venv" / "bin" / "python"
    told(sys.executable, "-m", "venv", str(tmp_path / "venv"))
    told(str(python), "-m", "pip", "install", "--quiet", f"pip=={pip}")
    assert f"pip {pip} " in told(str(python), "-m", "pip", "--version")
    told(str(python), "-m", "pip", "install", "--quiet", "--no-compile", str(source))
    assert told(str(python), "-c", PROGRAM, at=tmp_path).splitlines()[-1] == "True"


def told(*command: str, at: Path = ROOT) -> str:
    """Run a command to its end; what it printed."""
    done = subprocess.run(
        command, cwd=at, capture_output=True, text=True, timeout=60 * MINUTES, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout
