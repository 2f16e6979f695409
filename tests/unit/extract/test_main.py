"""Tests of ``python -m topiccrawl.extract``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.quality.newspages import LAYOUTS, Story
from topiccrawl.extract.__main__ import explain, main

if TYPE_CHECKING:
    from pathlib import Path


def test_extraction_is_shown_with_its_reasons(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = LAYOUTS[0](Story(1))
    page = tmp_path / "page.html"
    page.write_text(made.html, "utf-8")
    assert main([str(page), "--url", "http://a.test/n1_2.html"]) == 0
    out = capsys.readouterr().out
    assert "page 2 of http://a.test/n1.html" in out
    assert made.title in out
    assert "box div#article" in out
    page.write_text("<p>无</p>", "utf-8")
    assert main([str(page)]) == 1
    assert "no article" in capsys.readouterr().out


def test_control_characters_of_the_page_are_escaped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = LAYOUTS[0](Story(1))
    page = tmp_path / "page.html"
    page.write_text(made.html.replace(made.title, f"\u202e{made.title}\x9b2J"), "utf-8")
    assert main([str(page)]) == 0
    out = capsys.readouterr().out
    assert f"\\u202e{made.title}\\u009b2J" in out
    assert not {"\x9b", "\u202e"}.intersection(out)


def test_file_that_cannot_be_read_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main([str(tmp_path / "none.html")])
    assert end.value.code == 2
    assert "none.html: cannot be read" in capsys.readouterr().err


def test_captions_that_the_article_lacks_are_shown_as_left_out() -> None:
    text = "The council voted on the new budget today. " * 4
    caption = "<figure><figcaption>A view of the town hall in the rain.</figcaption></figure>"
    lines = explain(f"<article><p>{text}</p>{caption}<p>{text}</p></article>")
    assert [line[0] for line in lines[1:]] == ["+", "-", "+"]
