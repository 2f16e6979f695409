"""Test of the modules that are loaded at the start of every command."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = """
import json, sys
from scrapy.cmdline import execute
try:
    execute(["scrapy", "list"])
finally:
    print(json.dumps([*sys.modules]))
"""


def test_rarely_needed_modules_are_not_loaded_at_start() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = project["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-module-level-imports"]
    lines = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    loaded = set(json.loads(lines[-1]))
    assert lines[:-1] == ["template", "topic", "work"]
    assert loaded.isdisjoint([*listed, "aiohttp", "phonenumbers", "requests"])


def test_scheduler_leaves_the_download_handler_to_the_engine() -> None:
    code = "import sys, topiccrawl.scheduler.scheduler; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).split()
    assert "scrapy.core.downloader.handlers.http11" not in loaded
