from __future__ import annotations

from topiccrawl.dedup.boilerplate import MAX_COUNTED, MIN_ARTICLES, Boilerplate
from topiccrawl.model import Article

FOOT = "扫码关注本站公众号，第一时间获取新闻"


def article(number: int, site: str = "a.test", foot: str = FOOT) -> Article:
    body = f"{chr(0x4E00 + number) * 8}发生了一件事\n{foot}"
    return Article(f"http://{site}/{number}", "", body, site=site)


def test_what_a_site_repeats_is_left_out_there_only() -> None:
    known = Boilerplate()
    found = [known.learn(article(number)) for number in range(MIN_ARTICLES)]
    assert [len(marks) for marks in found] == [0] * (MIN_ARTICLES - 1) + [1]
    assert FOOT not in known.strip(article(9))
    assert FOOT in known.strip(article(9, site="b.test"))


def test_figures_and_blanks_make_no_other_line() -> None:
    known = Boilerplate()
    for number in range(MIN_ARTICLES):
        known.learn(article(number, foot=f"发布于 2020-0{number + 1}-11 , 阅读 {number * 7} 次"))
    assert known.strip(article(9, foot="发布于2021-10-12,阅读99次")).count("\n") == 0


def test_what_one_process_learnt_another_can_know() -> None:
    one, other = Boilerplate(), Boilerplate()
    for number in range(MIN_ARTICLES):
        other.know(one.learn(article(number)))
    assert len(one) == len(other) == 1
    assert other.strip(article(9)) == one.strip(article(9))


def test_a_body_of_nothing_else_is_kept() -> None:
    known = Boilerplate()
    for number in range(MIN_ARTICLES):
        known.learn(article(number))
    only = Article("http://a.test/x", "", FOOT, site="a.test")
    assert known.strip(only) == FOOT


def test_paragraphs_in_the_middle_are_the_articles_own() -> None:
    known = Boilerplate()
    for number in range(MIN_ARTICLES):
        known.learn(article(number))
    lines = [f"第{chr(0x4E00 + n)}段" for n in range(20)]
    lines[10] = FOOT
    body = "\n".join(lines)
    assert known.strip(Article("http://a.test/y", "", body, site="a.test")) == body


def test_counting_has_a_bound() -> None:
    known = Boilerplate()
    for number in range(MAX_COUNTED // 8 + 100):
        body = "\n".join(f"{chr(0x4E00 + line)}甲乙" for line in range(10))
        known.learn(Article(f"http://a.test/{number}", "", body, site=f"{number}.test"))
    assert len(known._counts) <= MAX_COUNTED
