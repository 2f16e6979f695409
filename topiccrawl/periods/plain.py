"""Values behind their labels, read line by line: the plainest reader of a page."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from topiccrawl.templates.record import Found, Record

if TYPE_CHECKING:
    from topiccrawl.records import Page
    from topiccrawl.templates.template import Template

_VALUE = r"\s*[:：]\s*([^\s:：][^:：\n]{0,80}?)(?=\s{2,}|\s\S{1,8}[:：]|$)"


class PlainReader:
    """Reads a template's fields where a label and a colon stand before the value.

    Args:
        template: Whose fields.
    """

    def __init__(self, template: Template) -> None:
        self.template = template

    def read(self, page: Page, html: str) -> tuple[Record, ...]:  # noqa: ARG002
        """The record of a page; none where a required field is missing, or all are."""
        found = []
        for field, pattern in self._patterns.items():
            match = pattern.search(page.prose)
            if match:
                found.append(
                    Found(field, match[1], match[1], 0.5, "line", page.url, match[0][:100])
                )
        naming = self.template.naming
        name = next((one.value for one in found if one.field == naming), "")
        required = {field for field, how in self.template.crawl.items() if how.required}
        if not found or not required <= {one.field for one in found}:
            return ()
        return (Record(self.template.name, name, tuple(found), (page.url,)),)

    @cached_property
    def _patterns(self) -> dict[str, re.Pattern[str]]:
        return {
            field: re.compile(
                rf"(?:{'|'.join(map(re.escape, (field, *how.synonyms)))}){_VALUE}", re.IGNORECASE
            )
            for field, how in self.template.crawl.items()
        }
