from __future__ import annotations

from email.message import Message
from typing import TYPE_CHECKING, cast

import pytest

from lab.licences import is_permissive, licence_of, packages

if TYPE_CHECKING:
    from importlib.metadata import PackageMetadata


def test_what_an_installation_brings_is_permissive_and_known() -> None:
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
def test_a_licence_is_read_where_packages_write_it(
    headers: list[tuple[str, str]], expected: str
) -> None:
    about = Message()
    for name, value in headers:
        about[name] = value
    assert licence_of(cast("PackageMetadata", about)) == expected
