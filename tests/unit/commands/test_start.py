"""Every command starts with all commands: what few of them need is imported where it is used."""

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


def test_what_few_commands_need_is_not_loaded_by_all() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = project["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-module-level-imports"]
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    loaded = set(json.loads(told[-1]))
    assert told[:-1] == ["template", "topic", "work"]
    assert loaded.isdisjoint([*listed, "aiohttp", "phonenumbers", "requests"])
