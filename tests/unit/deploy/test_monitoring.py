"""Alerts and the Grafana board speak of metrics that there are, and promtool agrees."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.addons.dashboard.states import state
from topiccrawl.addons.dashboard.metrics import exposition

DEPLOY = Path(__file__).parents[3] / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
BOARD = DEPLOY / "grafana" / "topiccrawl.json"
PROMTOOL = os.environ.get("TOPICCRAWL_TEST_PROMTOOL") or shutil.which("promtool") or ""
needs_promtool = pytest.mark.skipif(
    not PROMTOOL, reason="no promtool in PATH or TOPICCRAWL_TEST_PROMTOOL (Debian: prometheus)"
)


def told() -> str:
    full = state()
    full["errors"] = {"http-404": 1}
    full["hosts"] = {"states": {"ready": 1}, "list": []}
    return exposition([full])[0].decode()


def names() -> set[str]:
    """Metrics that are reported, those of the process included."""
    return set(re.findall(r"^([a-z_]+)[{ ]", told(), re.MULTILINE))


def spoken_of(text: str) -> set[str]:
    return set(re.findall(r"\b(?:topiccrawl|process)_[a-z_]+", text))


def test_alerts_speak_of_metrics_that_there_are() -> None:
    found = spoken_of(ALERTS.read_text(encoding="utf-8"))
    assert len(found) > 5
    assert found <= names()


def test_the_board_speaks_of_metrics_that_there_are() -> None:
    board = json.loads(BOARD.read_text(encoding="utf-8"))
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    found = spoken_of(" ".join(queries))
    assert len(found) > 10
    assert found <= names()
    places = [tuple(panel["gridPos"].values()) for panel in board["panels"]]
    assert len(set(places)) == len(places)


@needs_promtool
def test_promtool_accepts_metrics_and_rules() -> None:
    check = [PROMTOOL, "check", "metrics"]
    done = subprocess.run(check, input=told(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for what in (["check", "rules", ALERTS], ["test", "rules", ALERTS.with_suffix(".test.yml")]):
        line = [PROMTOOL, *map(str, what)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_promtool_parses_the_boards_queries() -> None:
    board = json.loads(BOARD.read_text(encoding="utf-8"))
    rules = [
        {"record": f"r:q{number}", "expr": target["expr"].replace("$topic", ".*")}
        for number, target in enumerate(
            target for panel in board["panels"] for target in panel["targets"]
        )
    ]
    text = json.dumps({"groups": [{"name": "board", "rules": rules}]})  # JSON is YAML, too
    done = subprocess.run(
        [PROMTOOL, "check", "rules", "/dev/stdin"],
        input=text, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
