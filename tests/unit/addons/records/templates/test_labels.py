"""Tests of labels in lines, and of the layout of pages."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.records.templates.labels import labels
from topiccrawl.addons.records.templates.layout import read_layout
from topiccrawl.addons.records.templates.template import resolve
from topiccrawl.addons.records.templates.words import Vocabulary, source_pattern

WORDS = Vocabulary(resolve("软件公司-四川"))


def labelled(text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(one.fields, text[one.end : one.stop].strip()) for one in labels(text, WORDS)]


def test_expression_of_the_source() -> None:
    assert source_pattern("邮箱").pattern == "邮.{0,50}箱"
    assert labelled("邮政(电子)信箱:a") == [(("邮箱",), "a")]
    assert labelled("邮递小箱:a") == [(("邮箱",), "a")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("电 话:1", [(("联系方式",), "1")]),
        ("电·话 : 1", [(("联系方式",), "1")]),
        ("公司电话:1", [(("联系方式",), "1")]),
        ("电话/传真:1", [(("联系方式", "传真"), "1")]),
        ("电话传真:1", [(("联系方式", "传真"), "1")]),
        ("传真电话:1", [(("传真",), "1")]),
        ("邮箱地址:a", [(("邮箱",), "a")]),
        ("【电话】028-85123456", [(("联系方式",), "028-85123456")]),
        ("Tel 028-85123456 Fax 028-85123457", [(("联系方式",), "028-85123456"),
                                               (("传真",), "028-85123457")]),
        ("电话2:028-1", [(("联系方式",), "028-1")]),
        ("电话(周一至周五 9:00-17:30):1", [(("联系方式",), "1")]),
        ("聯繫電話:1", [(("联系方式",), "1")]),
        ("QQ交流群:12345678", [((), "12345678")]),
        ("公司名称:四川云上软件有限公司地址:成都", [(("名称",), "四川云上软件有限公司"),
                                                   (("地址",), "成都")]),
        ("工作时间:9:00-18:00 电话:1", [((), "9:00-18:00"), (("联系方式",), "1")]),
        ("网址:http://a.test/", [(("网址",), "http://a.test/")]),
        ("我们的酒店 hotel 很好", []),
        ("如需了解更多请拨打客服热线", []),
    ],
)  # fmt: skip
def test_labels_are_found_in_lines(text: str, expected: list[tuple[tuple[str, ...], str]]) -> None:
    assert labelled(text) == expected


@given(st.text("电话传真:：邮箱 QQ028-/()、\x1f", max_size=60))
def test_labels_are_ordered_and_do_not_overlap(text: str) -> None:
    found = labels(text, WORDS)
    for one, after in pairwise(found):
        assert 0 <= one.start <= one.end <= one.stop
        assert one.stop == max(after.start, one.end)
    assert all(one.stop <= len(text) for one in found)


def test_lines_have_cells_zones_and_marks() -> None:
    layout = read_layout(
        "<div class=footer><p>一<a href=/x>二</a></div>"
        "<table><tr><td rowspan=2>a<td>b<tr><td>c<img src=i.gif alt=d></table>"
        "<p style='display:none'>无</p><p>：</p>"
    )
    assert [line.text for line in layout.lines] == ["一\x1f二", "a", "b", "c"]
    assert layout.lines[0].zone == "footer"
    assert layout.lines[0].marks[0].value == "/x"
    cells = [line.cell for line in layout.lines[1:]]
    assert [(cell.row, cell.column) for cell in cells if cell] == [(0, 0), (0, 1), (1, 1)]
    assert layout.lines[3].marks[0].instead == "d"


@given(st.text("<>tabledr/p div:电话 028=&;!-", max_size=120))
def test_any_markup_is_read_as_lines(html: str) -> None:
    layout = read_layout(html)
    assert all(line.text or line.marks for line in layout.lines)
    assert all(0 <= box.begin <= box.end <= len(layout.lines) for box in layout.boxes)
