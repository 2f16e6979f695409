"""Exports of the page are those of the command."""

from __future__ import annotations

import codecs

import pytest

from topiccrawl.addons.dashboard.library import exported
from topiccrawl.model import Article

ARTICLE = Article("http://a.test/1", "题", "文", topics={"足球": 0.5})


def test_spreadsheets_read_an_exported_csv_file_as_utf_8() -> None:
    assert exported(".csv", "足球", [ARTICLE]).startswith(codecs.BOM_UTF8)


@pytest.mark.parametrize("suffix", [".jsonl", ".html", ".md", ".atom", ".rss"])
def test_other_texts_have_no_byte_order_mark(suffix: str) -> None:
    text = exported(suffix, "足球", [ARTICLE]).decode()
    assert "题" in text
    assert not text.startswith("\ufeff")
