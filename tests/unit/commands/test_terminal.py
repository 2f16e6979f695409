"""What all commands do alike."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.crawl.run import ROOT


def test_a_reader_that_has_enough_is_no_error() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    line = [sys.executable, "-m", "scrapy", "topics", "list"]
    done = subprocess.run(line, cwd=ROOT, stdout=theirs, stderr=subprocess.PIPE, check=False)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_terminal_that_lacks_letters_shows_the_others() -> None:
    line = [sys.executable, "-m", "scrapy", "topics", "show", "电池 ångström"]
    encoding = {**os.environ, "PYTHONIOENCODING": "gb2312"}
    done = subprocess.run(line, cwd=ROOT, env=encoding, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "电池 ?ngstr?m" in done.stdout.decode("gb2312")
