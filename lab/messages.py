"""Update the message catalogue: ``python -m lab.messages`` adds new and drops unused messages.

Afterwards, translate the empty entries of ``topiccrawl/locale/zh.po``; a test refuses them.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stderr
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po, write_po

from topiccrawl import errors
from topiccrawl.commands.init import COMMENT, SUFFIX

PACKAGE = Path(__file__).parents[1] / "topiccrawl"
FILE = PACKAGE / "locale" / "zh.po"
COMPILED = FILE.parent / "zh" / "LC_MESSAGES" / "messages.mo"
PAGE = PACKAGE / "addons" / "dashboard" / "static" / "words.json"
ERRORS = [name for name, one in vars(errors).items() if isinstance(one, type)]
CALLS = dict.fromkeys(["tr", "message", "field", "padded", "ok", "warn", "fail", *ERRORS])
"""Functions and errors whose first argument is a message (``topiccrawl.messages``)."""
METHODS = [("**.py", "python"), ("**/templates/report.html", "jinja2")]
"""Extraction methods of Babel, by file."""
FOREIGN = {
    "argparse": (
        "usage: ",
        "options",
        "positional arguments",
        "show this help message and exit",
        "%(prog)s: error: %(message)s\n",
        "argument %(argument_name)s: %(message)s",
        "the following arguments are required: %s",
        "unrecognized arguments: %s",
        "expected one argument",
        "invalid choice: %(value)r (choose from %(choices)s)",
        "ambiguous option: %(option)s could match %(matches)s",
    ),
    "scrapy.commands": (
        "Global Options",
        "log file. if omitted stderr will be used",
        "log level (default: INFO)",
        "disable logging completely",
        "write python cProfile stats to FILE",
        "write process ID to FILE",
        "set/override setting (may be repeated)",
        "enable pdb on failure (uses ipdb if installed)",
    ),
}
"""Texts of other packages in the help of commands; argparse and ``TranslatedHelp`` look them up."""


def used() -> dict[str, str]:
    """Return the messages of the code, the dashboard and templates, each with its file."""
    found = {text: module for module, texts in FOREIGN.items() for text in texts}
    with redirect_stderr(StringIO()):  # Babel warns of f-strings in any argument
        extracted = list(extract_from_dir(PACKAGE, METHODS, keywords=CALLS))
    for file, _, text, _, _ in extracted:
        if str(text).strip():
            found.setdefault(str(text), file)
    if PAGE.exists():
        for text in json.loads(PAGE.read_text(encoding="utf-8")).values():
            found.setdefault(text, PAGE.name)
    for template in sorted(PACKAGE.glob(f"commands/project/**/*{SUFFIX}")):
        for text in COMMENT.findall(template.read_text("utf-8")):
            found.setdefault(text, template.name)
    return found


def translations() -> dict[str, str]:
    """Return the translations in the catalogue, "" for missing ones."""
    with FILE.open("rb") as file:
        return {str(one.id): str(one.string) for one in read_po(file) if one.id}


def compiled() -> dict[str, str]:
    """Return the compiled translations, which the package reads."""
    with COMPILED.open("rb") as file:
        return {str(one.id): str(one.string) for one in read_mo(file) if one.id}


def write(known: dict[str, str]) -> None:
    """Write the catalogue of the messages in use, with the known translations."""
    same = datetime.fromtimestamp(0, tz=UTC)  # equal messages give an equal file
    book = Catalog(
        locale="zh", project="topiccrawl", charset="utf-8", fuzzy=False, creation_date=same
    )
    for text, file in sorted(used().items(), key=lambda one: (one[1], one[0])):
        book.add(text, known.get(text, ""), locations=[(file, 1)])
    with FILE.open("wb") as out:
        write_po(out, book, omit_header=True, include_lineno=False, width=0)
    with COMPILED.open("wb") as out:
        write_mo(out, book)


if __name__ == "__main__":
    write(translations() if FILE.exists() else {})
    lacking = [text for text, found in translations().items() if not found]
    sys.stdout.writelines(f"not translated: {text}\n" for text in lacking)
