"""Reads pages for one template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.templates.extract import combine, records_of

if TYPE_CHECKING:
    from topiccrawl.records import Page
    from topiccrawl.templates.record import Record
    from topiccrawl.templates.template import Template


class RecordReader:
    """The records of pages, those that lack what the template requires left out.

    Args:
        template: What is looked for.
    """

    def __init__(self, template: Template) -> None:
        self.template = template

    def read(self, page: Page, html: str) -> tuple[Record, ...]:
        """The records of a page; never raises."""
        return combine([records_of(html, page.url, self.template)], self.template)
