from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from lab.demo.grammar import Writer
from lab.demo.vocabulary import Subject, site_names, subject_named, subjects

if TYPE_CHECKING:
    from collections.abc import Iterator

GIVEN = dict.fromkeys(("y", "year", "m", "d", "mon", "site"), "1")
SERVICE = {"reprint_titles", "reprint_lines", "info", "dates", "editor_lines"}


def templates(subject: Subject) -> Iterator[str]:
    yield from subject.titles + subject.sentences + subject.mentions
    for name, texts in subject.language.lists.items():
        if name not in SERVICE:
            yield from texts
    for words in subject.words.values():
        yield from words


@pytest.mark.parametrize("subject", subjects(), ids=lambda s: s.slug)
def test_every_template_can_be_written(subject: Subject) -> None:
    luck = random.Random(1)  # noqa: S311
    for template in templates(subject):
        for _ in range(5):
            text = Writer(subject.words, GIVEN, luck, luck, luck).write(template)
            assert not set("{}[]|") & set(text), template


@pytest.mark.parametrize("subject", subjects(), ids=lambda s: s.slug)
def test_mentions_need_no_words_of_their_own_subject(subject: Subject) -> None:
    luck = random.Random(1)  # noqa: S311
    for mention in subject.mentions:
        Writer(subject.language.words, GIVEN, luck, luck, luck).write(mention)


def test_there_is_enough_to_say() -> None:
    chinese = [s for s in subjects() if s.language.code == "zh"]
    assert len(chinese) >= 8
    assert len(subjects()) - len(chinese) >= 2
    assert min(len(s.sentences) for s in subjects()) >= 25
    assert min(len(set(s.titles)) for s in subjects()) >= 10
    assert len({s.slug for s in subjects()}) == len(subjects())


def test_a_subject_is_found_by_name_and_slug() -> None:
    assert subject_named("新能源汽车") is subject_named("nev")
    with pytest.raises(ValueError, match=r"'围棋'.*足球"):
        subject_named("围棋")


def test_site_names_are_many_and_distinct() -> None:
    names = site_names()
    assert len({latin for latin, _ in names.stems}) == len(names.stems)
    assert len(names.stems) * len(names.kinds) >= 200
