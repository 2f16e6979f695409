"""Floors under the records read from the demo's companies, in layouts not tuned on."""

from __future__ import annotations

import pytest

from benchmarks.template import measure

pytestmark = pytest.mark.quality

PRECISION = 0.99  # 1.000 when it was set; the goal is .97
RECALL = 0.98  # 1.000 when it was set; the goal is .93
UNSURE = 0.10  # .06 when it was set: the demo is easier than the confidences believe


def test_records_of_layouts_not_tuned_on() -> None:
    figures = measure([7], 120, "judging")
    assert figures.pages > 100
    assert figures.field_precision >= PRECISION, figures
    assert figures.field_recall >= RECALL, figures
    assert figures.confidence_error <= UNSURE, figures
