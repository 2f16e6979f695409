"""Tests of the repository's own style rules and of the settings reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab import commands, house, reference
from topiccrawl import settings as project

if TYPE_CHECKING:
    from pathlib import Path


def test_repository_follows_the_house_rules() -> None:
    assert list(house.mistakes()) == []


def test_reference_lists_all_settings() -> None:
    assert reference.outdated() == []
    text = (reference.DOCS / "settings.md").read_text("utf-8")
    ours = [name for name in vars(project) if name.startswith(("TOPICCRAWL_", "REDIS_", "WARC_"))]
    assert len(ours) > 50
    assert [name for name in [*ours, "TOPICCRAWL_SHARK_DECAY"] if f"| `{name}` |" not in text] == []


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a mistake of each kind."""
    package, docs = tmp_path / "topiccrawl", tmp_path / "docs"
    for folder in (package / "addons" / "mine", docs):
        folder.mkdir(parents=True)
    (tmp_path / "README.md").write_text("All is well, nobodys business.\n")
    (package / "commands").mkdir()
    (package / "commands" / "hello.py").write_text(
        "class HelloCommand(OperatorCommand, ScrapyCommand):\n    usage = ''\n"
    )
    (package / "commands" / "again.py").write_text(
        "class Command(\n    HelloCommand):\n    usage = ''\n"
    )
    for name in commands.FILES.values():
        (docs / name).write_text("")
    for name in reference.FILES.values():
        (docs / name).write_text("It is\ntold here.\n" if name == "settings.md" else "")
    (package / "room.py").write_text(
        '''"""Which room it is."""\n\n\nclass Room:\n    """A room."""\n\n    size = 1  # anew\n'''
    )
    (package / "other.py").write_text("class Room:\n    def size(self): return 1\n")
    (package / "settings.py").write_text('"""Settings."""\n\nTOPICCRAWL_SIZE = 1\n')
    (package / "addons" / "mine" / "settings.py").write_text(
        '"""Mine."""\n\nMINE = 1\n"""Used nowhere."""\n'
    )
    for module in (house, reference):
        monkeypatch.setattr(module, "ROOT", tmp_path)
        monkeypatch.setattr(module, "PACKAGE", package)
        monkeypatch.setattr(module, "DOCS", docs)
    monkeypatch.setattr(reference, "CORE", package / "settings.py")
    catalogue = tmp_path / "settings.zh.po"
    catalogue.write_text('msgid "Used nowhere."\nmsgstr "没有使用。"\n')
    monkeypatch.setattr(reference, "CATALOGUE", catalogue)
    monkeypatch.setattr(commands, "DOCS", docs)
    return package


def test_every_kind_of_mistake_is_reported(tree: Path) -> None:
    assert list(house.mistakes()) == [
        (
            "topiccrawl/room.py:1: 'Which room it is.': "
            "begin with a verb in the imperative or a noun phrase"
        ),
        "docs/settings.md:1: 'is told': use a term of docs/glossary.md or plain English",
        "topiccrawl/room.py:7: 'anew': use a term of docs/glossary.md or plain English",
        "setting TOPICCRAWL_SIZE is not documented: add a docstring below it",
        "setting TOPICCRAWL_SIZE is not read: use it, or remove it",
        "setting MINE is not read: use it, or remove it",
        "docs/settings.md is not up to date: python -m lab.reference",
        "docs/settings.zh-CN.md is not up to date: python -m lab.reference",
        *(
            f"topiccrawl.commands.{name} has no entry point, so other projects lack it: "
            "add it to scrapy.commands in pyproject.toml, then run pip install -e ."
            for name in ("again", "hello")
        ),
        "docs/commands.md is not up to date: python -m lab.commands",
        "docs/commands.zh-CN.md is not up to date: python -m lab.commands",
    ]
    assert house.twice(core=True) == ["Room"]


def test_setting_is_shown_in_english_until_its_text_is_translated(tree: Path) -> None:
    assert "| `MINE` | `1` |  | 没有使用。 |" in reference.markdown("zh")
    assert "MINE" not in reference.untranslated()
    file = tree / "addons" / "mine" / "settings.py"
    file.write_text(file.read_text().replace("nowhere", "nowhere now"))
    for _ in range(2):
        assert "| `MINE` | `1` |  | Used nowhere now. |" in reference.markdown("zh")
        assert "MINE" in reference.untranslated()
        reference.update_catalogue()
    catalogue = reference.CATALOGUE.read_text("utf-8")
    assert '#, fuzzy\nmsgid "Used nowhere now."\nmsgstr "没有使用。"\n' in catalogue


def test_comments_docstrings_and_blank_lines_are_not_code(tree: Path) -> None:
    ((file, room),) = ((f, t) for f, t in house.sources(tree).items() if f.name == "room.py")
    assert house.code_lines(file, room) == 2
    assert house.part_of(file) == "room"
    assert house.part_of(tree / "addons" / "mine" / "settings.py") == "addons.mine"
