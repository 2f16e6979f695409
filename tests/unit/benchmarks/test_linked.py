"""Tests of the benchmark that judges pages by their words and by their in-links."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.linked import Judgement, main, measures
from topiccrawl.model import Verdict

if TYPE_CHECKING:
    from pathlib import Path


def linked(words: Verdict, relevance: float, article: float = 1.0) -> Verdict:
    return Verdict(relevance, relevance >= 0.05, article=article, by_words=words)


def test_measures_equal_a_hand_calculation() -> None:
    """The ranking by words is off, on, on; with links it is on, on, off. A hub does not count."""
    found = measures(
        [
            Judgement(label=True, verdict=linked(Verdict(0.1, relevant=True), 0.3)),
            Judgement(label=True, verdict=linked(Verdict(0.0, relevant=False), 0.2)),
            Judgement(label=False, verdict=linked(Verdict(0.2, relevant=True), 0.04)),
            Judgement(
                label=False, verdict=linked(Verdict(0.0, relevant=False, article=0.1), 0.9, 0.1)
            ),
        ]
    )
    assert found["linked_ap"] == 1.0
    assert (found["words_precision"], found["words_recall"], found["words_f1"]) == (0.5, 0.5, 0.5)
    assert (found["linked_precision"], found["linked_recall"], found["linked_f1"]) == (1, 1, 1)


def test_small_collection_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In-links find stories that do not name the topic, from a list that names it."""
    shown = {f"http://a.test/{n}": "football" if n % 2 else "town" for n in range(1, 21)}
    lists = {name: f"http://a.test/{name}/" for name in ("football", "town")}
    bodies = {"http://a.test/": [(url, name) for name, url in lists.items()]} | {
        lists[name]: [(url, f"{name} story") for url, kind in shown.items() if kind == name]
        for name in lists
    }
    pages = [
        {
            "url": url,
            "label": "football" if url == lists["football"] else shown.get(url, ""),
            "body": f"<title>{url}</title>"
            + "".join(f"<p><a href='{to}'>{text}</a></p>" for to, text in bodies.get(url, ()))
            + f"<p>People met last night and said what they think, as page {url} says.</p>",
        }
        for url in (*bodies, *shown)
    ]
    web = tmp_path / "small.web.jsonl.gz"
    with gzip.open(web, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(page) + "\n" for page in pages)
    topics = [
        {"name": "t", "terms": ["football"], "relevant": ["football"], "seeds": ["http://a.test/"]}
    ]
    (tmp_path / "small.topics.json").write_text(json.dumps(topics))
    assert main([str(web), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["linked_ap"] > 0.9 > found["words_ap"]
    assert found["small.t"]["linked_ap"] == found["linked_ap"]
    with pytest.raises(SystemExit, match="no such topic"):
        main([str(web), "--topic", "u"])
