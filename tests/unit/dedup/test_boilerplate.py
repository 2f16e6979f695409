"""Tests of ``Boilerplate``: the lines that a site repeats are removed from bodies."""

from __future__ import annotations

from topiccrawl.dedup.boilerplate import MAX_COUNTED, MIN_ARTICLES, Boilerplate
from topiccrawl.model import Article

FOOT = "扫码关注本站公众号，第一时间获取新闻"


def article(number: int, site: str = "a.test", foot: str = FOOT) -> Article:
    body = f"{chr(0x4E00 + number) * 8}发生了一件事\n{foot}"
    return Article(f"http://{site}/{number}", "", body, site=site)


def test_repeated_line_is_removed_on_its_site_only() -> None:
    boilerplate = Boilerplate()
    found = [boilerplate.learn(article(number)) for number in range(MIN_ARTICLES)]
    assert [len(marks) for marks in found] == [0] * (MIN_ARTICLES - 1) + [1]
    assert FOOT not in boilerplate.strip(article(9))
    assert FOOT in boilerplate.strip(article(9, site="b.test"))


def test_lines_that_differ_in_digits_and_spaces_are_equal() -> None:
    boilerplate = Boilerplate()
    for number in range(MIN_ARTICLES):
        boilerplate.learn(
            article(number, foot=f"发布于 2020-0{number + 1}-11 , 阅读 {number * 7} 次")
        )
    assert boilerplate.strip(article(9, foot="发布于2021-10-12,阅读99次")).count("\n") == 0


def test_learnt_lines_are_passed_to_another_process() -> None:
    first, second = Boilerplate(), Boilerplate()
    for number in range(MIN_ARTICLES):
        second.know(first.learn(article(number)))
    assert len(first) == len(second) == 1
    assert second.strip(article(9)) == first.strip(article(9))


def test_body_of_repeated_lines_alone_is_kept() -> None:
    boilerplate = Boilerplate()
    for number in range(MIN_ARTICLES):
        boilerplate.learn(article(number))
    only = Article("http://a.test/x", "", FOOT, site="a.test")
    assert boilerplate.strip(only) == FOOT


def test_lines_in_the_middle_of_a_body_are_kept() -> None:
    boilerplate = Boilerplate()
    for number in range(MIN_ARTICLES):
        boilerplate.learn(article(number))
    lines = [f"第{chr(0x4E00 + n)}段" for n in range(20)]
    lines[10] = FOOT
    body = "\n".join(lines)
    assert boilerplate.strip(Article("http://a.test/y", "", body, site="a.test")) == body


def test_number_of_counted_lines_is_limited() -> None:
    boilerplate = Boilerplate()
    for number in range(MAX_COUNTED // 8 + 100):
        body = "\n".join(f"{chr(0x4E00 + line)}甲乙" for line in range(10))
        boilerplate.learn(Article(f"http://a.test/{number}", "", body, site=f"{number}.test"))
    assert len(boilerplate._counts) <= MAX_COUNTED
