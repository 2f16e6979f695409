"""Tests of the public names of the package and of the examples in docs/api.md, also in Chinese."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import topiccrawl

if TYPE_CHECKING:
    from collections.abc import Callable

tc: Any = topiccrawl  # arguments of wrong types are passed

ROOT = Path(__file__).parents[2]
URL = "http://a.test/1"
SCORER = tc.Scorer(tc.find_topic("足球"))
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tc.read_page(b"<h1>a</h1>", URL), "a page is text, not bytes: see topiccrawl."),
        (lambda: tc.extract_article(b"", URL), "a page is text, not bytes: see topiccrawl."),
        (lambda: tc.read_page("", None), "the URL of a page is text, not NoneType: "),
        (lambda: tc.extract_article("", None), "a URL is text, not NoneType"),
        (lambda: tc.canonicalize_url(URL.encode()), "a URL is text, not bytes"),
        (lambda: tc.canonicalize_url("b.html", 1), "a URL is text, not int"),
        (lambda: tc.decode("text"), "an undecoded page is bytes, not str: text needs no decoding"),
        (lambda: tc.decode(b"", b"text/html"), "a Content-Type is text, not bytes: decode it as"),
        (lambda: tc.find_topic(["足球", "中超"]), "a topic is text or a path, not list: give"),
        (lambda: tc.Scorer("足球"), "the topic must be a Topic, not str: see topiccrawl.find"),
        (lambda: SCORER.score_page("足球"), "the page must be a Page, not str: see topiccrawl."),
        (lambda: SCORER.score_short(b"text"), "a link text is text, not bytes: see"),
        (lambda: tc.open(None), "a data folder is text or a path, not NoneType: see TOPICCRAWL_"),
        (lambda: list(tc.find_duplicates([URL])), "every article must be an Article, not str: see"),
        (lambda: list(tc.find_duplicates([], "shingles")), "a DuplicateDetector, not str: see"),
    ],
)  # fmt: skip
def test_argument_of_another_type_is_refused_with_the_remedy(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        call()


def test_topic_file_may_be_a_path(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('terms = ["茶叶"]', "utf-8")
    assert tc.find_topic(file) == tc.find_topic(str(file))
