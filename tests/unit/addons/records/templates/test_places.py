"""Tests of which values near a label, a heading or another line belong to it."""

from __future__ import annotations

import pytest

from topiccrawl.addons.records.templates.extract import records_of
from topiccrawl.addons.records.templates.template import resolve

SOURCE = resolve("软件公司-四川")
CYCLES = resolve("bicycle-workshops-cornwall")
TITLE = "<title>四川云上软件有限公司</title><p>邮箱：a@yunshang.test</p>"
IMAGE = "<img src=/i/n.gif>"


@pytest.mark.parametrize(
    ("html", "shows"),
    [
        (f"<p>电话：{IMAGE}</p>", True),
        (f"<div>电话{IMAGE}</div>", True),
        (f"<table><tr><td>电话<td>{IMAGE}</table>", True),
        (f"<dl><dt>电话<dd>{IMAGE}</dl>", True),
        (f"<h3>电话</h3><p>{IMAGE}</p>", True),
        (f"<p><a href=/lx.html>电话</a> {IMAGE}</p>", False),  # a link to another page
        (f"<p><a href=/lx.html>电话 {IMAGE}</a></p>", False),
        (f"<ul><li>电话</li><li>{IMAGE}</li></ul>", False),  # a picture after an entry
    ],
)
def test_image_is_a_value_where_the_label_must_have_one(html: str, shows: bool) -> None:  # noqa: FBT001
    (record,) = records_of(TITLE + html, "http://yunshang.test/", SOURCE)
    found = [one.value for one in record.found if one.image]
    assert found == ["http://yunshang.test/i/n.gif"] * shows


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("<b>客房及餐厅预订</b> 028-85123456", ("+86 28 8512 3456",)),
        ("客房及餐厅预订 028-85123456", ()),  # no element of its own
        ("<b>客房预订请在每天上午九点到下午五点之间来前台办理入住</b> 028-85123456", ()),
        ("<b>客房预订</b> 028-85123456 可以免费接送客人到达本地的机场", ()),
        ("<b>成都甲木软件有限公司</b> 028-85123456", ()),  # of another organisation
    ],
)
def test_number_after_a_short_heading_next_to_a_label(line: str, number: tuple[str, ...]) -> None:
    html = f"{TITLE}<div><p>{line}</p><p>地址：成都市青羊区人民中路1号</p></div>"
    (record,) = records_of(html, "http://yunshang.test/", SOURCE)
    assert record.values("联系方式") == number


@pytest.mark.parametrize(
    ("html", "address"),
    [
        ("<div><p>2 Fore Street</p><p>Truro TR1 2AB</p></div>", "2 Fore Street, Truro TR1 2AB"),
        ("<table><tr><td>2 Fore Street<tr><td>Truro TR1 2AB</table>",
         "2 Fore Street, Truro TR1 2AB"),
        ("<div><p>2 Fore Street</p></div><div><p>Truro TR1 2AB</p></div>", ""),
        ("<table><tr><td>Open daily<td>2 Fore Street<tr><td>Truro TR1 2AB<td>Closed</table>", ""),
    ],
)  # fmt: skip
def test_lines_of_an_address_are_in_sibling_boxes_or_one_column(html: str, address: str) -> None:
    html = f"<title>Spoke</title><p>Email: a@spoke.example</p>{html}"
    (record,) = records_of(html, "http://spoke.example/", CYCLES)
    assert record.values("address") == ((address,) if address else ())
