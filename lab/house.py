"""Code metrics: ``python -m lab.house``; ``--check`` checks wording and settings."""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

import grimp
from scrapy.settings import default_settings

from lab import commands, reference
from lab.reference import DOCS, PACKAGE, ROOT, declared, files, read, untranslated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = (
    "is told", "are told", "was told", "told apart", "anew", "let go", "whoever", "somebody",
    "nobody", "is had", "to be had", "closed up", "handed out",
)  # fmt: skip
"""Words that texts must not use; docs/glossary.md has the terms."""
_REMEDY = "use a term of docs/glossary.md or plain English"
_LISTED = re.compile(
    r"(?<![^\W_])("
    + "|".join(word.replace(" ", r"(?:[-_]|\s+(?:[#/]+\s*)?)") for word in WORDS)
    + r")(?![^\W_])",
    re.IGNORECASE,
)
"""Listed words, also as parts of names."""
_QUESTION = re.compile(r"(what|who|whose|whom|whether|where|when|which|how|why)\b", re.IGNORECASE)
_TEXTS = {".py", ".lua", ".js", ".html", ".toml", ".md"}
_CODE = ("tests", "benchmarks", "lab", "examples")
"""Folders with code outside of the package."""
_LISTING = {"lab/house.py", "tests/unit/lab/test_house.py"}
"""Files that contain the words as data."""
_CATALOGUE = "lab/settings.zh.po"
_FOUNDATION = "model, userfiles, messages, errors, settings"
_TOP = {"model", "userfiles", "messages", "errors", "settings", "addon"}
_NO_CODE = frozenset(
    {
        tokenize.COMMENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER, tokenize.INDENT,
        tokenize.NEWLINE, tokenize.NL,
    }
)  # fmt: skip


def sources(folder: Path) -> dict[Path, ast.Module]:
    """Return the modules below a folder, parsed."""
    return {file: ast.parse(file.read_text("utf-8")) for file in sorted(folder.rglob("*.py"))}


def part_of(file: Path) -> str:
    """Return the part of a file: a package of the core, an add-on, or a folder outside of it."""
    parts = file.relative_to(ROOT).parts
    if parts[0] != "topiccrawl":
        return parts[0]
    name = parts[1].removesuffix(".py")
    return f"addons.{parts[2]}" if name == "addons" and len(parts) > 3 else name  # noqa: PLR2004


def code_lines(file: Path, tree: ast.Module) -> int:
    """Return the number of lines without docstrings, comments and blank lines."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(file.read_text("utf-8")).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in docs(tree):
        lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def docs(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield string statements: docstrings, including those of attributes."""
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value


def questions() -> list[str]:
    """Return the locations of docstrings that begin with a wh-word."""
    return [
        f"{file.relative_to(ROOT)}:{node.lineno}: {str(node.value).strip().splitlines()[0]!r}: "
        "begin with a verb in the imperative or a noun phrase"
        for folder in (PACKAGE, *(ROOT / name for name in _CODE))
        for file, tree in sources(folder).items()
        for node in docs(tree)
        if _QUESTION.match(str(node.value).strip())
    ]


def words() -> Iterator[str]:
    """Yield the locations of listed words in code, tests and docs."""
    texts = [file for folder in (PACKAGE, DOCS) for file in folder.rglob("*")]
    code = [file for folder in _CODE for file in (ROOT / folder).rglob("*.py")]
    for file in sorted([*ROOT.glob("*.md"), *texts, *code]):
        name = file.relative_to(ROOT).as_posix()
        if file.suffix in _TEXTS and name not in _LISTING and not file.name.startswith("uplot"):
            text = file.read_text("utf-8")
            for hit in _LISTED.finditer(text):
                line = text.count("\n", 0, hit.start()) + 1
                yield f"{name}:{line}: {' '.join(hit[0].split())!r}: {_REMEDY}"


def shape() -> tuple[int, int, int]:
    """Return the numbers of packages, dependencies and layers.

    Top-level modules count as one package. A cycle is an error; import-linter reports it, too.
    """
    graph = grimp.build_graph("topiccrawl")
    imports = {
        (_room(module), _room(imported))
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
    }
    edges = [(one, other) for one, other in imports if one and other and one != other]
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for one, other in edges:
        sorter.add(one, other)
    sorter.prepare()
    floors = 0
    while sorter.is_active():
        floors += 1
        sorter.done(*sorter.get_ready())
    return len({room for edge in edges for room in edge}), len(edges), floors


def _room(module: str) -> str:
    name = module.split(".")[1] if "." in module else ""
    if name == "__main__":
        return "commands"
    return _FOUNDATION if name in _TOP else name


def twice(*, core: bool) -> list[str]:
    """Return the names of classes that are defined more than once in the core, or anywhere."""
    names = Counter(
        node.name
        for file, tree in sources(PACKAGE).items()
        if not (core and part_of(file).startswith("addons"))
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    return sorted(name for name, number in names.items() if number > 1)


def settings() -> tuple[int, list[str], list[str]]:
    """Return the number of settings, those without documentation, and those that are not read."""
    ours = [one for file in files() for one in declared(file)]
    known = read()
    names = [one.name for one in ours]
    unread = [name for name in names if name not in known and not hasattr(default_settings, name)]
    return len(ours), [one.name for one in ours if not one.meaning], unread


def mistakes() -> Iterator[str]:
    """Yield a line for each violation of the rules."""
    yield from questions()
    yield from words()
    _, bare, unread = settings()
    yield from (f"setting {name} is not documented: add a docstring below it" for name in bare)
    yield from (f"setting {name} is not read: use it, or remove it" for name in unread)
    for name in reference.outdated():
        yield f"docs/{name} is not up to date: python -m lab.reference"
    for module in commands.unregistered(PACKAGE):
        remedy = "add it to scrapy.commands in pyproject.toml, then run pip install -e ."
        yield f"{module} has no entry point, so other projects lack it: {remedy}"
    for name in commands.outdated():
        yield f"docs/{name} is not up to date: python -m lab.commands"


def measures() -> Iterator[str]:
    """Yield the lines of the table of metrics."""
    lines: Counter[str] = Counter()
    numbers: Counter[str] = Counter()
    for folder in (PACKAGE, ROOT / "lab", ROOT / "benchmarks"):
        for file, tree in sources(folder).items():
            part = part_of(file)
            sums = [part] if folder != PACKAGE else [part, "= " + _side(part)]
            for name in sums:
                lines[name] += code_lines(file, tree)
                numbers[name] += 1
    for name, number in sorted(lines.items(), key=lambda item: -item[1]):
        yield f"{name:24} {number:7,} code lines {numbers[name]:4} files"
    rooms, edges, floors = shape()
    yield f"rooms {rooms}, edges {edges}, floors {floors}"
    every = [node for tree in sources(PACKAGE).values() for node in docs(tree)]
    yield f"docstrings {len(every)}, of them questions {len(questions())}"
    yield f"listed words {len(list(words()))}"
    yield f"class names twice: of the core {len(twice(core=True))}, of all {len(twice(core=False))}"
    number, bare, unread = settings()
    yield f"settings {number}; not documented {bare or 'none'}; not read {unread or 'none'}"


def _side(part: str) -> str:
    return "add-ons" if part.startswith("addons") else "core"


def main() -> int:
    """Print the metrics or the violations; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="print violations, exit 1 if any")
    if not parser.parse_args().check:
        print(*measures(), sep="\n")
        return 0
    found = list(mistakes())
    notes = [f"note: {name} has no Chinese text in {_CATALOGUE}" for name in untranslated()]
    sys.stdout.writelines(f"{line}\n" for line in found + notes)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
