"""Tests of the standard output of all commands."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.crawl.run import ROOT


def test_closed_pipe_is_not_reported() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    line = [sys.executable, "-m", "scrapy", "topics", "list"]
    done = subprocess.run(line, cwd=ROOT, stdout=write_end, stderr=subprocess.PIPE, check=False)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (141, b"")


def test_letters_missing_in_the_encoding_are_replaced() -> None:
    line = [sys.executable, "-m", "scrapy", "topics", "show", "电池 ångström"]
    encoding = {**os.environ, "PYTHONIOENCODING": "gb2312"}
    done = subprocess.run(line, cwd=ROOT, env=encoding, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "电池 ?ngstr?m" in done.stdout.decode("gb2312")
