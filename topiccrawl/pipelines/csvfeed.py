"""Scrapy's CSV feeds, with cells that a spreadsheet does not run as formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exporters import CsvItemExporter
from typing_extensions import override

from topiccrawl.storage.formats import escape_formula

if TYPE_CHECKING:
    from collections.abc import Iterable


class DefusedCsvExporter(CsvItemExporter):
    """CSV exporter whose cells are ``escape_formula``."""

    @override
    def _build_row(self, values: Iterable[Any]) -> Iterable[Any]:
        return map(escape_formula, super()._build_row(values))
