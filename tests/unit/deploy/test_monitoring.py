"""Tests of the alerts and of the Grafana dashboard: metrics exist, promtool accepts them."""

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


def metrics_text() -> str:
    full = state()
    full["errors"] = {"http-404": 1}
    full["hosts"] = {"states": {"ready": 1}, "list": []}
    return exposition([full])[0].decode()


def exported_names() -> set[str]:
    """Return the names of the exported metrics, including those of the process."""
    return set(re.findall(r"^([a-z_]+)[{ ]", metrics_text(), re.MULTILINE))


def names_in(text: str) -> set[str]:
    return set(re.findall(r"\b(?:topiccrawl|process)_[a-z_]+", text))


def test_metrics_of_the_alerts_exist() -> None:
    found = names_in(ALERTS.read_text(encoding="utf-8"))
    assert len(found) > 5
    assert found <= exported_names()


def test_metrics_of_the_dashboard_exist() -> None:
    board = json.loads(BOARD.read_text(encoding="utf-8"))
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    found = names_in(" ".join(queries))
    assert len(found) > 10
    assert found <= exported_names()
    places = [tuple(panel["gridPos"].values()) for panel in board["panels"]]
    assert len(set(places)) == len(places)


@needs_promtool
def test_promtool_accepts_metrics_and_rules() -> None:
    check = [PROMTOOL, "check", "metrics"]
    done = subprocess.run(check, input=metrics_text(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for arguments in (
        ["check", "rules", ALERTS],
        ["test", "rules", ALERTS.with_suffix(".test.yml")],
    ):
        line = [PROMTOOL, *map(str, arguments)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_promtool_parses_the_queries_of_the_dashboard() -> None:
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
