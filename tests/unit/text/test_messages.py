"""The catalogue: all messages of code and page in all languages, with the same fields."""

from __future__ import annotations

import ast
from string import Formatter
from typing import TYPE_CHECKING

import pytest

from lab.messages import ERRORS, PACKAGE, compiled, translations, used
from topiccrawl.errors import TopicError
from topiccrawl.text.messages import choose_language, language, message, said, tr
from topiccrawl.topics.topic import read

if TYPE_CHECKING:
    from pathlib import Path


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


def test_an_error_speaks_the_chosen_language_and_its_values_do_too() -> None:
    inner = TopicError("field {field} is missing: add it", field="name")
    error = TopicError("{path}: {mistake}", path="a.toml", mistake=inner)
    assert str(error) == "a.toml: field name is missing: add it"
    choose_language("zh")
    try:
        assert said(error) == "a.toml: 缺少字段 name：请加上"
        assert said(message("topic file")) == "主题文件"
        assert said("topic file") == "topic file"
    finally:
        choose_language("")


def test_a_file_is_refused_in_chinese(tmp_path: Path) -> None:
    place = tmp_path / "a.toml"
    place.write_text('name = "a"\nterm = 3\n')
    with pytest.raises(TopicError) as caught:
        read(place)
    choose_language("zh")
    try:
        assert f"{place}: 未知的字段 term：是否指 terms？" in said(caught.value)
    finally:
        choose_language("")


def test_messages_of_errors_are_templates_which_the_catalogue_can_have() -> None:
    wrong = [
        f"{file}:{node.lineno}"
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ERRORS
        and node.args
        and isinstance(node.args[0], ast.JoinedStr)
    ]
    assert wrong == []
