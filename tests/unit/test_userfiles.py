"""Tests of the files of a project that is deployed as a zipped egg."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from topiccrawl.userfiles import list_files

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("package", "expected"), [("egg_with", ["cars"]), ("egg_without", [])])
def test_files_of_a_zipped_egg_are_listed_if_it_has_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, expected: list[str]
) -> None:
    egg = tmp_path / "1.egg"
    with ZipFile(egg, "w") as file:
        file.writestr("egg_with/__init__.py", "")
        file.writestr("egg_with/topics/cars.toml", "name = 'cars'")
        file.writestr("egg_without/__init__.py", "")
    monkeypatch.syspath_prepend(egg)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", f"{package}.settings")
    assert [name for name, _ in list_files(tmp_path / "topics", ())] == expected
