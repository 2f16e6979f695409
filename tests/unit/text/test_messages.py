"""The catalogue: all messages of code and page in all languages, with the same fields."""

from __future__ import annotations

from string import Formatter

import pytest

from lab.messages import compiled, translations, used
from topiccrawl.text.messages import choose_language, language, tr


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_no_message_lacks_its_translation_and_none_is_left_over() -> None:
    known = translations()
    remedy = "run `python -m lab.messages`, then translate the empty entries of zh.po"
    assert sorted(text for text in used() if not known.get(text)) == [], remedy
    assert sorted(known.keys() - used().keys()) == [], remedy
    assert compiled() == known, remedy


def test_a_translation_has_the_fields_of_its_message() -> None:
    wrong = [text for text, found in translations().items() if fields(text) != fields(found)]
    assert wrong == []


@pytest.mark.parametrize(
    ("variables", "spoken"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_TW.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANGUAGE": "zh:en", "LANG": "en_GB.UTF-8"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_the_environment_chooses_and_a_setting_overrides(
    variables: dict[str, str], spoken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.setenv(name, variables.get(name, ""))
    choose_language("")
    assert language() == spoken
    choose_language("zh")
    try:
        assert tr("nothing is queued") == "队列已空"
    finally:
        choose_language("")
