"""Tests of the package's metadata: version, dependencies, extras."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from topiccrawl import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_dependencies_include_clients_and_documented_libraries() -> None:
    plain = {Requirement(text).name for text in PROJECT["dependencies"]}
    named = {"scrapy", "scrapy-redis", "redis", "msgpack", "pymongo", "jieba", "scikit-learn"}
    assert named <= plain
    extras = PROJECT["optional-dependencies"]
    assert (extras["redis"], extras["mongodb"]) == ([], [])
    rare = {Requirement(text).name for name in ("js", "parquet", "warc") for text in extras[name]}
    assert not rare & plain
    assert not {"phonenumbers", "trafilatura", "wordfreq"} & plain  # large and rarely used


def test_changelog_starts_with_the_current_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert re.fullmatch(rf"{re.escape(__version__)} - \d{{4}}-\d\d-\d\d", heads[0])
    versions = [tuple(map(int, head.split(" ")[0].split("."))) for head in heads]
    assert versions == sorted(versions, reverse=True)
    parts = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    assert parts == {"Added", "Changed", "Fixed", "Removed"}
