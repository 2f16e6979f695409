"""MkDocs hooks for ``make docs``: add pages of the root, and turn links to code into text."""

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
"""Pages at the root of the repository that are part of the site."""
_TO_ROOT = re.compile(rf"\]\(\.\./({'|'.join(map(re.escape, PAGES))})")
_TO_LANGUAGE = re.compile(r"^\[(?:中文|English)\]\([^)]+\)(?: · )?", re.MULTILINE)
_TO_CODE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]+\)")
_TO_DOCS = re.compile(r"\]\(docs/")
_TO_FILE = re.compile(r"\[([^\]]+)\]\((?!https?:|#|[\w.-]+\.md|images/)[^)]*\)")


@event_priority(-100)  # after the plugin for languages, which knows files of the docs folder only
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages at the root of the repository."""
    for name in PAGES:
        text = _TO_FILE.sub(r"\1", _TO_DOCS.sub("](", (ROOT / name).read_text(encoding="utf-8")))
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:  # noqa: ANN401  (as MkDocs calls it)
    """Point links to pages of the root into the site, and replace links to code by their text.

    Links to the other language are removed, as the site has a language switch.
    """
    return _TO_CODE.sub(r"\1", _TO_ROOT.sub(r"](\1", _TO_LANGUAGE.sub("", markdown)))
