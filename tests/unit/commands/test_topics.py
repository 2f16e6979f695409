from __future__ import annotations

from topiccrawl.commands.topics import describe
from topiccrawl.topics.topic import from_words


def test_groups_and_words_that_must_not_stand_there_are_shown() -> None:
    lines = describe(from_words("(足球 | 篮球) +北京 -彩票"))
    assert "  needs      足球 or 篮球" in lines
    assert "  needs      北京" in lines
    assert "  must not   彩票" in lines


def test_a_topic_without_groups_needs_nothing() -> None:
    assert not any("needs" in line for line in describe(from_words("足球 篮球")))
