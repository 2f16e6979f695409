"""Quality floors of records of the demo's companies, in layouts that were not tuned on."""

from __future__ import annotations

import pytest

from benchmarks.template import measure
from tests.quality.contacts import SETS, figures, pages

pytestmark = pytest.mark.quality

PRECISION = 0.99  # 1.000 when it was set; the goal is .97
RECALL = 0.98  # 1.000 when it was set; the goal is .93
UNSURE = 0.10  # .06 when it was set: the demo is easier than the confidences believe
BY_HAND = 0.98, 0.97
"""Precision and recall of pages by hand; docs/templates.md has those of the first reading."""
PAGES = {
    "first": 37,
    "second": 60,
    "third": 30,
    "fourth": 34,
    "fifth": 24,
    "sixth": 21,
    "seventh": 16,
    "eighth": 12,
    "ninth": 10,
    "tenth": 14,
    "eleventh": 14,
}


def test_records_of_layouts_not_tuned_on() -> None:
    met = measure([7], 120, "judging")
    assert met.pages > 100
    assert met.field_precision >= PRECISION, met
    assert met.field_recall >= RECALL, met
    assert met.confidence_error <= UNSURE, met


@pytest.mark.parametrize("which", SETS)
def test_records_of_pages_written_by_hand(which: str) -> None:
    read = list(pages(which))
    precision, recall = figures(read)
    mistakes = {one.name: (one.wrong, one.missed) for one in read if one.wrong or one.missed}
    assert len(read) >= PAGES[which]
    assert precision >= BY_HAND[0], mistakes
    assert recall >= BY_HAND[1], mistakes
