"""Tests of workflows, issue templates, hooks and the citation file."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from topiccrawl import __version__

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflow_follows_the_schema_and_calls_known_targets(file: Path) -> None:
    words = ("check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(file))
    done = subprocess.run((sys.executable, "-m", *words), capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = file.read_text()
    assert (called := set(re.findall(r"\bmake ([a-z-]+)", text)))
    assert called <= targets
    jobs = yaml.safe_load(text)["jobs"]
    assert all("timeout-minutes" in job or "uses" in job for job in jobs.values())
    for job in jobs.values():
        assert set(job.get("needs", "").split()) <= jobs.keys()


def test_all_python_versions_of_the_classifiers_are_tested() -> None:
    matrix = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]["test"]
    classifiers = [text for text in PROJECT["classifiers"] if re.search(r"Python :: \d\.\d+", text)]
    versions = [classifier.split(" :: ")[-1] for classifier in classifiers]
    assert versions == matrix["strategy"]["matrix"]["python"]


def test_templates_hooks_and_citation_are_valid() -> None:
    forms = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    assert {"bug.yml", "feature.yml"} <= {form.name for form in forms}
    for form in forms:
        if form.name != "config.yml":
            assert {"name", "description", "body"} <= yaml.safe_load(form.read_text()).keys()
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert {"ruff", "ruff-format"} <= {hook["id"] for hook in hooks}
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == __version__
    assert (ROOT / "SECURITY.md").exists()
    assert (ROOT / "CODE_OF_CONDUCT.md").exists()
