"""Tests of the public names of the package and of the examples in docs/api.md, also in Chinese."""

from __future__ import annotations

import ast
import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("dedup", "discovery", "extract", "links", "text", "topics")


@pytest.mark.parametrize("name", ["api.md", "api.zh-CN.md"])
def test_examples_of_the_docs_run(name: str) -> None:
    done = doctest.testfile(str(ROOT / "docs" / name), module_relative=False)
    assert done.attempted > 20
    assert done.failed == 0


def test_stub_has_the_names_that_can_be_imported() -> None:
    stub = ast.parse((ROOT / "topiccrawl" / "__init__.pyi").read_text("utf-8"))
    typed = {
        alias.name: node.module
        for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }  # fmt: skip
    package = import_module("topiccrawl")
    assert package.__all__ == sorted(typed) == dir(package)
    for name, module in typed.items():
        assert getattr(package, name) is getattr(import_module(str(module)), name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


@pytest.mark.parametrize("package", PACKAGES)
def test_package_exports_the_names_of_its_all(package: str) -> None:
    module = import_module(f"topiccrawl.{package}")
    assert sorted(module.__all__, key=_ruff_order) == module.__all__
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert not isinstance(getattr(module, name), type(sys)), "a name must not hide a module"


def _ruff_order(name: str) -> tuple[int, str]:
    """Return the sort key of ruff: constants first, then classes, then functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_import_of_the_package_loads_no_submodule() -> None:
    program = (
        "import sys, topiccrawl; print([m for m in sys.modules if m.startswith('topiccrawl.')])"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", ["read_page", "extract_article"])
def test_bytes_of_a_page_are_refused_with_the_remedy(name: str) -> None:
    function = getattr(import_module("topiccrawl"), name)
    with pytest.raises(TypeError, match=r"a page is text, not bytes: see topiccrawl\.decode"):
        function(b"<h1>a</h1>", "http://a.test/1")
