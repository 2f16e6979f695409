"""The module that suspends coverage's tracer in processes of a test run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

UNTRACED = Path(__file__).parents[2] / "untraced"


def test_hidden_module_of_the_same_name_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('loaded')")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(UNTRACED), str(tmp_path)))}
    shown = subprocess.check_output([sys.executable, "-c", ""], env=environment, text=True)
    assert shown == "loaded\n"
