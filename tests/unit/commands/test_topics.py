"""Tests of ``scrapy topics``: the description of a topic and new topic files."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from topiccrawl.commands.marking import import_marks, with_marks
from topiccrawl.commands.topics import describe, write_new
from topiccrawl.errors import StateError, TopicError
from topiccrawl.model import Mark
from topiccrawl.topics.topic import from_words, read
from topiccrawl.userfiles import to_toml

if TYPE_CHECKING:
    from pathlib import Path


def test_groups_and_negative_terms_are_described() -> None:
    lines = describe(from_words("(足球 | 篮球) +北京 -彩票"))
    assert "  needs      足球 or 篮球" in lines
    assert "  needs      北京" in lines
    assert "  must not   彩票" in lines


def test_fewest_terms_are_described() -> None:
    assert "  needs      2 terms" in describe(from_words("玻利维亚总统辞职"))


def test_topic_without_groups_shows_no_needs() -> None:
    assert not any("needs" in line for line in describe(from_words("足球 篮球")))


@pytest.mark.parametrize(
    "words",
    [
        "关于人工智能在医疗中的应用",
        '(人工智能 | AI) +医疗 -招聘 "deep learning"^2',
        "玻利维亚总统辞职",
        "足球",
    ],
)
def test_new_file_gives_the_same_topic_as_its_words(words: str, tmp_path: Path) -> None:
    path = write_new(str(tmp_path / "mine"), words, (), ())
    assert path.name == "mine.toml"
    assert read(path).model_dump() == from_words(words).model_dump()


def test_new_file_may_consist_of_examples(tmp_path: Path) -> None:
    shown = ("https://a.test/one", "https://a.test/two")
    topic = read(write_new(str(tmp_path / "like.toml"), "", shown, ("https://a.test/no",)))
    assert (topic.terms, topic.examples, topic.counterexamples) == (
        {},
        shown,
        ("https://a.test/no",),
    )


def test_existing_file_is_not_replaced(tmp_path: Path) -> None:
    write_new(str(tmp_path / "mine"), "足球", (), ())
    with pytest.raises(TopicError, match=r"mine\.toml: exists"):
        write_new(str(tmp_path / "mine.toml"), "篮球", (), ())
    with pytest.raises(TopicError, match="cannot be written"):
        write_new(str(tmp_path / "none" / "mine.toml"), "篮球", (), ())


def test_marks_are_written_as_examples(tmp_path: Path) -> None:
    topic = from_words("足球").model_copy(update={"examples": ("https://a.test/1", "a text")})
    wanted_by_url = {"https://a.test/1": False, "https://a.test/2": True, "example:0123": True}
    marks = [Mark(url, "", "", wanted) for url, wanted in wanted_by_url.items()]
    path = tmp_path / "mine.toml"
    path.write_text(to_toml(with_marks(topic, marks)), encoding="utf-8")
    found = read(path)
    assert (found.examples, found.counterexamples) == (
        ("a text", "https://a.test/2"),
        ("https://a.test/1",),
    )
    assert found.terms == topic.terms


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            '{"url": "http://a.test/2", "title": ""}',
            "text: (Field required|Missing required argument)",
        ),
        ('{"url": 2, "title": "", "text": ""}', "url: Input should be a valid string"),
        ("[" * 100_000, "Invalid JSON"),
    ],
)
def test_import_names_the_line_that_is_no_mark(line: str, reason: str, tmp_path: Path) -> None:
    file, topic = tmp_path / "marks.jsonl", from_words("足球")
    first = Mark("http://a.test/1", "", "one\u2028line").to_json()
    file.write_text(f"{first}\n{line}\n", "utf-8")
    with pytest.raises(StateError, match=rf"marks\.jsonl: line 2 is no mark .*: {reason}"):
        asyncio.run(import_marks(Settings(), topic, str(file)))
