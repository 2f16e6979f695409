"""Tests of the message catalogue and of translated messages."""

from __future__ import annotations

import ast
import re
from copy import copy, deepcopy
from string import Formatter
from typing import TYPE_CHECKING

import pytest

from lab.messages import CALLS, PACKAGE, compiled, translations, used
from topiccrawl.addons.doctor.commands.doctor import lines_of
from topiccrawl.addons.records.templates.template import read as read_template
from topiccrawl.addons.tasks.http import spec_in
from topiccrawl.commands.topics import describe
from topiccrawl.commands.why import explain
from topiccrawl.errors import TopiccrawlError, TopicError
from topiccrawl.frontier.view import EVICTED
from topiccrawl.messages import NameList, choose_language, language, localize, message, tr
from topiccrawl.scheduler.findings import warn
from topiccrawl.scheduler.starttime import parse_since
from topiccrawl.spiders.arguments import refuse_denied, refuse_unknown, within
from topiccrawl.storage.database import FILE, Database
from topiccrawl.topics.topic import Topic, read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_every_message_has_a_translation_and_none_is_unused() -> None:
    known = translations()
    remedy = "run `python -m lab.messages`, then translate the empty entries of zh.po"
    assert sorted(text for text in used() if not known.get(text)) == [], remedy
    assert sorted(known.keys() - used().keys()) == [], remedy
    assert compiled() == known, remedy


def test_translation_has_the_fields_of_its_message() -> None:
    wrong = [text for text, found in translations().items() if fields(text) != fields(found)]
    assert wrong == []


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_TW.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANGUAGE": "zh:en", "LANG": "en_GB.UTF-8"}, "zh"),
        ({"TOPICCRAWL_LANGUAGE": "zh", "LANG": "en_US.UTF-8"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_language_follows_environment_and_setting(
    variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TOPICCRAWL_LANGUAGE", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.setenv(name, variables.get(name, ""))
    choose_language("")
    assert language() == expected
    choose_language("zh")
    try:
        assert tr("the queue is empty") == "队列已空"
    finally:
        choose_language("")


def test_numbers_of_one_have_the_singular() -> None:
    line = "{hubs} lists of articles; {new} new articles, {name} is {pages:2} bodies"
    said = tr(line, hubs=1, new=1, name=1, pages=1)
    assert said == "1 list of articles; 1 new article, 1 is  1 bodies"
    said = tr(line, hubs=0, new=1001, name="1", pages="1")
    assert said == "0 lists of articles; 1001 new articles, 1 is 1  bodies"
    assert tr("{n} earlier versions of {n} URLs", n=1) == "1 earlier version of 1 URL"


def test_lists_are_joined_as_the_language_does() -> None:
    error = TopicError("known are {names}", names=NameList(["电池", "汽车, 充电"]))
    assert str(error) == localize(error) == "known are 电池, 汽车, 充电"
    choose_language("zh")
    try:
        assert localize(error) == "可用的有 电池、汽车, 充电"
        assert tr("known are {names}", names=error.values["names"]) == localize(error)
    finally:
        choose_language("")


@pytest.mark.parametrize("copied", [copy, deepcopy])  # as by multiprocessing
def test_copied_names_are_the_same(copied: Callable[[NameList], NameList]) -> None:
    names = copied(NameList(["电池", "汽车, 充电"]))
    assert (names, names.names) == ("电池, 汽车, 充电", ("电池", "汽车, 充电"))


def test_error_and_its_values_are_translated() -> None:
    inner = TopicError("field {field} is missing: add it", field="name")
    error = TopicError("{path}: {mistake}", path="a.toml", mistake=inner)
    assert str(error) == "a.toml: field name is missing: add it"
    choose_language("zh")
    try:
        assert localize(error) == "a.toml: 缺少字段 name：请加上"
        assert localize(message("topic file")) == "主题文件"
        assert localize("topic file") == "topic file"
    finally:
        choose_language("")


def test_error_of_a_topic_file_is_translated(tmp_path: Path) -> None:
    place = tmp_path / "a.toml"
    place.write_text('name = "a"\nterm = 3\n')
    with pytest.raises(TopicError) as caught:
        read(place)
    choose_language("zh")
    try:
        assert f"{place}: 未知的字段 term：是否指 terms？" in localize(caught.value)
    finally:
        choose_language("")


def test_labels_are_translated_and_aligned() -> None:
    queued = EVICTED._replace(url="http://球.cn/", queue="crawled", reason="", relevance=0.5)
    choose_language("zh")
    try:
        url, *why = explain(queued)
        title, *topic = describe(BALL)
        finding = lines_of(warn("disk", "1", "2"))
        again = explain(EVICTED)
    finally:
        choose_language("")
    assert why[0] == "  队列       crawledQueue：已抓取"
    assert "  相关度     0.5000（抓到的网页）" in why
    assert topic[0] == "  词         足球 × 1"
    assert finding == ["警告  磁盘        1", "                  -> 2"]
    shown = "\n".join([*why, *topic, *again])
    known = re.compile(
        r"http://\S+|a\.test|crawledQueue|TOPICCRAWL_\w+|topiccrawl frontier \w+ URL"
    )
    assert re.findall(r"[a-z]{3,}", known.sub("", shown)) == []
    assert (url, title) == ("http://球.cn/", "球")


def test_messages_are_no_f_strings() -> None:
    wrong = [
        f"{file}:{node.lineno}"
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in CALLS
        and node.args
        and isinstance(node.args[0], ast.JoinedStr)
    ]
    assert wrong == []


def _topic(folder: Path, text: str, reader: Callable[[Path], object] = read) -> None:
    file = folder / "one.toml"
    file.write_text(text, encoding="utf-8")
    reader(file)


def _database(folder: Path) -> None:
    (folder / FILE).mkdir()
    Database(folder / FILE).open()


BALL = Topic(name="球", terms={"足球": 1.0}, seeds=("http://a.test/",), denied_hosts=("a.test",))


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda d: parse_since("last", d, "球", 0.0), "没有进行过 '球' 的抓取；请不用 last"),
        (lambda _: refuse_unknown(["topci"], ["topic"]), "未知的参数 topci：是否指 topic？"),
        (lambda _: refuse_unknown(["x"], ["a", "b"]), "未知的参数 x：可用的有 a、b"),
        (lambda _: refuse_denied(BALL), "其主机在 denied_hosts 之中"),
        (lambda _: within(BALL, "re:(", ""), "'re:(' 不是正则表达式"),
        (lambda _: within(BALL, "*", "re:"), "'re:' 不是模式"),
        (lambda _: spec_in({"arguments": {"topic": "a.toml"}}), "通过 HTTP 请写词语"),
        (lambda _: spec_in({"arguments": {"discover": "list:x"}}), "list 只接受"),
        (lambda _: spec_in({"arguments": {"discover": "a.b:x"}}), "不能给出点分路径"),
        (lambda d: _topic(d, 'terms = ["球", "！"]'), "'！' 不含字母或数字：请删去"),
        (lambda d: _topic(d, 'terms = ["球"]\nsynonyms = {"乓" = ["x"]}'), "请将它加入 terms"),
        (lambda d: _topic(d, 'terms = ["球"]\nseeds = ["x"]'), "'x' 不是 http 或 https 网址"),
        (lambda d: _topic(d, 'terms = ["球"]\nallowed_hosts = ["a/b"]'), "'a/b' 不是主机名"),
        (
            lambda d: _topic(
                d, 'terms = ["球"]\nthresholds = {lower_limit = 0.5, upper_limit = 0.1}'
            ),
            "lower_limit（0.5）高于 upper_limit（0.1）：请对调",
        ),
        (
            lambda d: _topic(d, '[crawl]\n"电话" = "text"', read_template),
            "没有起点：请给出 search.name 或 seeds",
        ),
        (_database, "无法打开：unable to open database file；请确保文件夹存在且可写"),
    ],
)
def test_nested_messages_are_translated(
    act: Callable[[Path], object], words: str, tmp_path: Path
) -> None:
    with pytest.raises(TopiccrawlError) as caught:
        act(tmp_path)
    choose_language("zh")
    try:
        assert words in localize(caught.value)
    finally:
        choose_language("")
