"""Explain records of pages: ``python -m topiccrawl.addons.records.templates FILE``."""

from __future__ import annotations

import argparse
import json
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.extract import combine, records_of
from topiccrawl.addons.records.templates.template import Template, resolve
from topiccrawl.errors import TemplateError
from topiccrawl.messages import escaped
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.addons.records.record import Record


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the records of pages; return the exit status.

    It is 0 if records were found, 1 if not, and 2 if a file or the template cannot be read.
    """
    parser = argparse.ArgumentParser(
        prog="python -m topiccrawl.addons.records.templates", description=__doc__
    )
    parser.add_argument("files", type=Path, nargs="+", help="pages of one site, as served")
    parser.add_argument("--template", required=True, help="path or name of a template")
    parser.add_argument(
        "--url", default="http://example.test/contact.html", help="URL of the pages"
    )
    parser.add_argument("--json", action="store_true", help="print records as JSON lines")
    options = parser.parse_args(arguments)
    try:
        template = resolve(options.template)
        pages = [decode(file.read_bytes(), None).text for file in options.files]
    except TemplateError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"{error.filename}: cannot be read: {error.strerror}")
    records = combine([records_of(page, options.url, template) for page in pages], template)
    lines = [line for record in records for line in _lines(record, template, options.json)]
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # GBK terminals cannot encode all characters
    sys.stdout.writelines(f"{escaped(line)}\n" for line in lines or ["no record"])
    return int(not records)


def _lines(record: Record, template: Template, as_json: bool) -> Iterator[str]:  # noqa: FBT001
    if as_json:
        yield json.dumps(record.as_dict(), ensure_ascii=False)
        return
    yield f"record {record.name or '(no name)'}"
    for one in record.found:
        image = " (an image)" if one.image else ""
        yield f"  {one.field}: {one.value}{image}"
        yield f"    {one.confidence:.2f} {one.where}: {one.snippet}"
    for field in template.crawl:
        if not any(one.field == field for one in record.found):
            yield f"  {field}: not found"


if __name__ == "__main__":
    sys.exit(main())
