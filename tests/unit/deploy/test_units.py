"""Tests of the systemd units in deploy/systemd."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import ROOT

if TYPE_CHECKING:
    from pathlib import Path

UNITS = ROOT / "deploy" / "systemd"
MAX_EXPOSURE = 4.0
"""Highest accepted exposure by `systemd-analyze security`, from 0 (best) to 10."""
ANALYSER = shutil.which("systemd-analyze") or ""


@pytest.mark.skipif(not ANALYSER, reason="no systemd-analyze: apt-get install systemd")
@pytest.mark.parametrize("name", ["topiccrawl@.service", "topiccrawl-dashboard.service"])
def test_service_is_hardened(name: str, tmp_path: Path) -> None:
    file = tmp_path / name.replace("@", "@topic")
    shutil.copy(UNITS / name, file)
    command = [ANALYSER, "security", "--offline=true", str(file)]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = re.search(r"exposure level for .*: ([\d.]+)", output)
    assert found is not None, output
    assert float(found[1]) <= MAX_EXPOSURE


def test_timer_exists_and_a_fruitless_crawl_is_no_failure() -> None:
    assert (UNITS / "topiccrawl@.timer").exists()
    service = (UNITS / "topiccrawl@.service").read_text("utf-8")
    assert "SuccessExitStatus=3" in service
    assert "RestartPreventExitStatus=2" in service
