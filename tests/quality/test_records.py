"""Floors under the records read from the demo's companies, in layouts not tuned on."""

from __future__ import annotations

import pytest

from benchmarks.template import measure
from tests.quality.contacts import pages

pytestmark = pytest.mark.quality

PRECISION = 0.99  # 1.000 when it was set; the goal is .97
RECALL = 0.98  # 1.000 when it was set; the goal is .93
UNSURE = 0.10  # .06 when it was set: the demo is easier than the confidences believe
BY_HAND = 0.98, 0.97
"""Precision and recall of pages written by hand: .929 and .792 when first met, then .991, .991."""


def test_records_of_layouts_not_tuned_on() -> None:
    figures = measure([7], 120, "judging")
    assert figures.pages > 100
    assert figures.field_precision >= PRECISION, figures
    assert figures.field_recall >= RECALL, figures
    assert figures.confidence_error <= UNSURE, figures


def test_records_of_pages_written_by_hand() -> None:
    read = list(pages())
    right, wrong, missed = (
        sum(map(len, some))
        for some in zip(*((one.right, one.wrong, one.missed) for one in read), strict=True)
    )
    mistakes = {one.name: (one.wrong, one.missed) for one in read if one.wrong or one.missed}
    assert len(read) >= 37
    assert right / (right + wrong) >= BY_HAND[0], mistakes
    assert right / (right + missed) >= BY_HAND[1], mistakes
