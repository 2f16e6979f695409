"""The package's metadata: version, dependencies, extras."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from topiccrawl import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_a_plain_installation_brings_servers_clients_and_the_libraries_of_the_readme() -> None:
    plain = {Requirement(one).name for one in PROJECT["dependencies"]}
    named = {"scrapy", "scrapy-redis", "redis", "msgpack", "pymongo", "jieba", "scikit-learn"}
    assert named <= plain
    extras = PROJECT["optional-dependencies"]
    assert (extras["redis"], extras["mongodb"]) == ([], [])
    rare = {Requirement(one).name for name in ("js", "parquet", "warc") for one in extras[name]}
    assert not rare & plain
    assert not {"phonenumbers", "trafilatura", "wordfreq"} & plain  # large, for little


def test_the_version_heads_the_changelog_and_older_ones_follow() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert re.fullmatch(rf"{re.escape(__version__)} - \d{{4}}-\d\d-\d\d", heads[0])
    versions = [tuple(map(int, head.split(" ")[0].split("."))) for head in heads]
    assert versions == sorted(versions, reverse=True)
    parts = set(re.findall(r"^### (.+)$", text, re.MULTILINE))
    assert parts == {"Added", "Changed", "Fixed", "Removed"}
