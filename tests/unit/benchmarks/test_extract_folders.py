"""Tests of reading folders of labelled pages in their published formats."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

from benchmarks.extract_folders import labelled

if TYPE_CHECKING:
    from pathlib import Path


def test_pages_and_truth_are_paired_by_name(tmp_path: Path) -> None:
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "1.html.gz").write_bytes(gzip.compress(b"<p>one"))
    truth = {
        "url": "http://a.test/1",
        "_internal": {"page_type": {"primary": "forum"}},
        "ground_truth": {"main_content": "one", "publish_date": "2024-01-02", "title": None},
    }
    (tmp_path / "1.json").write_text(json.dumps(truth), "utf-8")
    (page,) = labelled(tmp_path)
    assert (page.url, page.data, page.label) == ("http://a.test/1", b"<p>one", "forum")
    assert page.truth == {"body": "one", "title": "", "date": "2024-01-02", "author": ""}


def test_truth_of_the_right_version_is_used(tmp_path: Path) -> None:
    names = ["Post_2023_01_02.html.gz", "Post_2024_01_02.html.gz"]
    for name in names:
        (tmp_path / name).write_bytes(gzip.compress(name.encode()))
    meta = {
        name: {"url": f"http://a.test/{number}", "crawl_date": name[5:15]}
        for number, name in enumerate(names)
    }
    (tmp_path / "meta.info").write_text(json.dumps(meta), "utf-8")
    body = {"summary": ["sum"], "sections": [{"headline": ["head"], "paragraphs": ["text"]}]}
    truth = {"V1_1": {"title": "new", "body": body}, "V1": {"title": "old", "authors": ["A", "B"]}}
    (tmp_path / "Post.json").write_text(json.dumps(truth), "utf-8")
    first, second = labelled(tmp_path)
    assert (first.truth["title"], first.truth["author"]) == ("old", "A B")
    assert (second.url, second.truth["body"]) == ("http://a.test/1", "sum\nhead\ntext")
