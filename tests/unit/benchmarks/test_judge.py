"""Tests of the judge benchmark: measures, samples and a small collection."""

from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING

import pytest

from benchmarks.judge import main
from benchmarks.judge_measures import draw, draw_actively, measure
from benchmarks.judge_webs import stated_topic
from topiccrawl.addons.simulate.harvest import LabelledTopic

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.judge_measures import Draw

LABELS = [n % 4 == 0 for n in range(40)]


def test_measures_equal_a_hand_calculation() -> None:
    """Ranks of the positives are 1 and 3: average precision (1 + 2/3) / 2; best F1 at rank 3."""
    found = measure([0.95, 0.85, 0.75, 0.05], [True, False, True, False])
    assert found.ap == pytest.approx((1 + 2 / 3) / 2)
    assert found.f1 == pytest.approx(0.8)
    assert found.ece == pytest.approx((0.05 + 0.85 + 0.25 + 0.05) / 4)


def test_draw_takes_at_most_half_of_the_positives() -> None:
    sample = draw(LABELS, 30, 10, random.Random(1))  # noqa: S311
    assert (len(sample.on), len(sample.off), len(sample.background)) == (5, 15, 10)
    assert all(LABELS[n] for n in sample.on)
    assert not any(LABELS[n] for n in sample.off)
    assert len(sample.used) == 30
    assert sample == draw(LABELS, 30, 10, random.Random(1))  # noqa: S311


def test_active_learning_asks_for_the_lowest_ranked_pages() -> None:
    def lowest_first(known: Draw, places: Sequence[int]) -> list[int]:
        assert not known.used & set(places)
        return sorted(places)

    found = draw_actively(LABELS, 5, 8, random.Random(1), lowest_first)  # noqa: S311
    assert len(found.on) + len(found.off) == 10
    assert len(found.on) <= 5
    first = draw(LABELS, 2, 8, random.Random(1))  # noqa: S311
    asked = set(found.on + found.off) - first.used
    assert asked == set([n for n in range(40) if n not in first.used][: len(asked)])


def test_small_collection_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = [
        {
            "url": f"http://a.test/{n}",
            "label": "sport" if on else "other",
            "body": f"<title>{n}</title><p>{'football match' if on else 'a concert hall'} {n}</p>",
        }
        for n, on in enumerate(LABELS)
    ]
    with gzip.open(tmp_path / "small.web.jsonl.gz", "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(page) + "\n" for page in pages)
    topics = [
        {"name": "t", "terms": ["football"], "relevant": ["sport"], "seeds": ["http://a.test/0"]}
    ]
    (tmp_path / "small.topics.json").write_text(json.dumps(topics))
    place = tmp_path / "figures.json"
    line = ["--web", "small", "--data", str(tmp_path), "--condition", "words"]
    assert main([*line, "--json", str(place)]) == 0
    assert json.loads(place.read_text())["words_ap"] == 1.0
    assert "small t" in capsys.readouterr().out


def test_section_is_the_built_in_topic_of_its_name() -> None:
    values = {
        "name": "education",
        "terms": ["school"],
        "seeds": ["http://a.test/"],
        "relevant": ["x"],
    }
    known = LabelledTopic.model_validate(values)
    section = stated_topic("web", known, "section")
    assert section is not None
    assert (section.seeds, section.terms["education"]) == (known.topic.seeds, 3.0)
    assert stated_topic("web", known.model_copy(update={"name": "elsewhere"}), "section") is None
