"""Tests of the licences of installed packages."""

from __future__ import annotations

from email.message import Message
from typing import TYPE_CHECKING, cast

import pytest

from lab.licences import is_permissive, licence_of, packages

if TYPE_CHECKING:
    from importlib.metadata import PackageMetadata


def test_runtime_dependencies_have_permissive_licences() -> None:
    found = packages()
    assert {"topiccrawl", "scrapy", "twisted", "numpy", "warcio"} <= found.keys()
    assert not {"pytest", "secantusdb", "wordfreq", "trafilatura"} & found.keys()
    assert [name for name, one in found.items() if not is_permissive(one)] == ["topiccrawl"]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("License-Expression", "0BSD"), ("License", "text")], "0BSD"),
        ([("Classifier", "License :: OSI Approved :: MIT License")], "MIT License"),
        ([("Classifier", "Topic :: X"), ("License", "BSD\nlong text")], "BSD"),
        ([], ""),
    ],
)
def test_licence_is_read_from_any_metadata_field(
    headers: list[tuple[str, str]], expected: str
) -> None:
    metadata = Message()
    for name, value in headers:
        metadata[name] = value
    assert licence_of(cast("PackageMetadata", metadata)) == expected
