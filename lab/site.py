"""Hooks of MkDocs for ``make docs``: pages of the root join the site, links to code become text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[1]
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
"""Pages at the root of the repository that the site has as well."""
_TO_ROOT = re.compile(rf"\]\(\.\./({'|'.join(map(re.escape, PAGES))})")
_TO_LANGUAGE = re.compile(r"^\[(?:中文|English)\]\([^)]+\)(?: · )?", re.MULTILINE)
_TO_CODE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]+\)")
_TO_DOCS = re.compile(r"\]\(docs/")
_TO_FILE = re.compile(r"\[([^\]]+)\]\((?!https?:|#|[\w.-]+\.md|images/)[^)]*\)")


@event_priority(-100)  # after the plugin for languages, which knows files of the docs folder only
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root."""
    for name in PAGES:
        text = _TO_FILE.sub(r"\1", _TO_DOCS.sub("](", (ROOT / name).read_text(encoding="utf-8")))
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:  # noqa: ANN401  (as MkDocs calls it)
    """Lead links to the root's pages into the site; a link to code is its text.

    A link to the page's other language goes: the site has a switch for it.
    """
    return _TO_CODE.sub(r"\1", _TO_ROOT.sub(r"](\1", _TO_LANGUAGE.sub("", markdown)))
