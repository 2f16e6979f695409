"""Tests of records extracted from pages in the forms that companies use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as bounded
from hypothesis import strategies as st

from topiccrawl.addons.records.record import Record
from topiccrawl.addons.records.templates.extract import combine, records_of
from topiccrawl.addons.records.templates.template import resolve

SOURCE = resolve("软件公司-四川")
CYCLES = resolve("bicycle-workshops-cornwall")
URL = "http://www.yunshang.test/contact.html"
TITLE = "<title>联系我们-四川云上软件有限公司</title>"
NAME = "四川云上软件有限公司"


def values_of(html: str, number: int = 0) -> dict[str, tuple[str, ...]]:
    record = records_of(html, URL, SOURCE)[number]
    fields = dict.fromkeys(one.field for one in record.found)
    return {field: record.values(field) for field in fields}


FACTS = {
    "名称": (NAME,),
    "地址": ("成都市青羊区人民中路1号",),
    "联系方式": ("+86 28 8611 1111",),
    "邮箱": ("yun@yunshang.test",),
    "传真": ("+86 28 8611 1112",),
    "邮编": ("610031",),
}
ROWS = (
    ("地　址", "成都市青羊区人民中路1号"),
    ("电&nbsp;&nbsp;话", "（028）86111111"),
    ("E-mail", "yun@yunshang.test"),
    ("传真", "86-28-86111112"),
    ("邮编", "６１００３１"),
)
FORMS = {
    "table": ("<table>{}</table>", "<tr><td>{}：</td><td>{}</td></tr>"),
    "three cells": ("<table>{}</table>", "<tr><th>{}<td>：<td>{}"),
    "definition list": ("<dl>{}</dl>", "<dt>{}</dt><dd><p>{}</p></dd>"),
    "paragraphs": ("{}", "<p><b>{}：</b>{}</p>"),
    "lines": ("<td>{}</td>", "{}：{}<br/>"),
    "headings": ("<div>{}</div>", "<h4>{}</h4><p>{}</p>"),
    "boxes": ("<section>{}</section>", "<div><div>{}</div><div>{}</div></div>"),
    "spans": ("<div>{}</div>", "<div><span>{}</span><span>{}</span></div>"),
    "paragraphs apart": ("<div>{}</div>", "<p>{}：</p><p>{}</p>"),
    "one line": ("<div>{}</div>", "{}：{}　"),
    "bars": ("<div>{}</div>", "{}：{} | "),
    "footer": (
        "<div id=footer>{} 技术支持：<a>成都蜀网科技有限公司</a> 028-66668888</div>",
        "{}:{} ",
    ),
    "brackets": ("<ul>{}</ul>", "<li>【{}】{}</li>"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_values(form: str) -> None:
    outer, row = FORMS[form]
    assert values_of(TITLE + outer.format("".join(row.format(*one) for one in ROWS))) == FACTS


def test_values_below_a_row_of_headings() -> None:
    heads = "".join(f"<td>{label}</td>" for label, _ in ROWS)
    cells = "".join(f"<td>{value}</td>" for _, value in ROWS)
    assert values_of(f"{TITLE}<table><tr>{heads}</tr><tr>{cells}</tr></table>") == FACTS


@pytest.mark.parametrize(
    "office",
    [
        "<h3>{}</h3><p>{}</p><p>{}</p>",
        "<div><h4>{}</h4><ul><li>{}</li><li>{}</li></ul></div>",
        "<table><tr><td colspan=2>{}</td></tr><tr><td>{}</td><td>{}</td></tr></table>",
        "<p>{}：{} {}</p>",
    ],
)
@pytest.mark.parametrize("head", ["北京分公司", "上海办事处", f"{NAME}深圳分公司"])
def test_values_of_branches_are_ignored(office: str, head: str) -> None:
    html = office.format(head, "地址：北京市海淀区中关村1号", "电话：010-87719675")
    before = f"{TITLE}<div><p>电话：028-86111111</p></div>{html}<div><p>QQ：10001</p></div>"
    assert values_of(before) == {"名称": (NAME,), "联系方式": FACTS["联系方式"], "QQ": ("10001",)}


def test_head_office_is_taken_from_a_table_of_offices() -> None:
    html = (
        "<table><tr><th>机构<th>地址<th>电话<tr><td>总部<td>成都市青羊区人民中路1号<td>028-86111111"
        "<tr><td>深圳分公司<td>深圳市南山区科苑路8号<td>0755-86001122</table>"
    )
    record = values_of(TITLE + html)
    assert (record["地址"], record["联系方式"]) == (FACTS["地址"], FACTS["联系方式"])


def test_two_companies_on_a_page_are_two_records() -> None:
    block = "<h3>{}</h3><p>电话：{}</p><p>邮箱：{}</p>"
    html = block.format(NAME, "028-86111111", "a@yunshang.test")
    html += block.format("成都地下数据有限公司", "028-66111111", "b@dixia.test")
    for title in (TITLE, "<title>联系我们</title>"):
        records = records_of(f"{title}<div>{html}</div>", URL, SOURCE)
        assert [(one.name, one.values("联系方式"), one.values("邮箱")) for one in records] == [
            (NAME, ("+86 28 8611 1111",), ("a@yunshang.test",)),
            ("成都地下数据有限公司", ("+86 28 6611 1111",), ("b@dixia.test",)),
        ]


def test_directory_gives_one_record_per_row() -> None:
    html = (
        "<title>四川软件企业名录</title><table><tr><td>序号<td>企业名称<td>联系电话<td>邮箱"
        "<tr><td>1<td>成都甲木软件有限公司<td>028-85000001<td>a@jia.test"
        "<tr><td>2<td>绵阳乙水科技有限公司<td>0816-2300002<td></table>"
        "<div class=footer>主办：某某协会 电话：028-86009999</div>"
    )
    records = records_of(html, URL, SOURCE)
    assert [(one.name, one.values("联系方式"), one.values("邮箱")) for one in records] == [
        ("成都甲木软件有限公司", ("+86 28 8500 0001",), ("a@jia.test",)),
        ("绵阳乙水科技有限公司", ("+86 816 230 0002",), ()),
    ]


def test_images_are_reported_as_such() -> None:
    (record,) = records_of(
        f"{TITLE}<p>邮箱：<img src=/i/m.gif></p><p>电话：028-86111111", URL, SOURCE
    )
    (image,) = (one for one in record.found if one.image)
    assert (image.field, image.value) == ("邮箱", "http://www.yunshang.test/i/m.gif")
    assert record.values("邮箱") == ()


def test_forms_hidden_text_and_other_numbers_are_ignored() -> None:
    html = (
        "<form>电话：<input value=1>邮箱：<input>地址：<textarea></textarea></form>"
        "<p style='display:none'>邮箱：bait@bait.test</p><p>举报电话：010-66668888</p>"
        "<p>开户行：中国银行 账号：6217001234567890123</p><p>QQ群：123456789</p>"
        "<p>例如12345678。蜀ICP备12345678号-1</p>"
    )
    assert combine([records_of(TITLE + html, URL, SOURCE)], SOURCE) == ()


def test_numbers_behind_unknown_labels_are_found() -> None:
    html = "<p>销售部：028-86111111</p><p>李经理：13800001111</p><p>股票代码：600123</p>"
    assert values_of(TITLE + html)["联系方式"] == ("+86 28 8611 1111", "+86 138 0000 1111")


def test_footer_of_another_organisation_is_ignored() -> None:
    html = f"<title>联系我们</title><h2>{NAME}</h2><p>电话：028-86111111</p>"
    html += "<footer>版权所有 四川天府集团有限公司 电话：028-86009999</footer>"
    assert values_of(html) == {"名称": (NAME,), "联系方式": FACTS["联系方式"]}


def test_noframes_text_is_read() -> None:
    html = f"<title>{NAME}</title><frameset><noframes>电话：028-86111111</noframes></frameset>"
    assert values_of(f"<html><head>{html}</html>")["联系方式"] == FACTS["联系方式"]


def test_fax_is_no_telephone() -> None:
    html = "<p>Tel: 028-86111111</p><p>Fax: <a href='tel:02886111112'>028-86111112</a></p>"
    assert values_of(TITLE + html)["联系方式"] == ("+86 28 8611 1111",)


def test_number_without_area_code_gets_that_of_the_page() -> None:
    html = "<p>电话：86111113</p><p>传真：028-86111112</p>"
    assert values_of(TITLE + html)["联系方式"] == ("+86 28 8611 1113",)


def test_json_ld_and_icons_give_values() -> None:
    script = '{"@graph":[{"@type":"WebSite","name":"x"},{"@type":"Organization","name":"NAME",'
    script = script.replace("NAME", NAME)
    script += '"address":{"streetAddress":"人民中路1号","addressLocality":"成都市"}}]}'
    html = f"<script type=application/ld+json>{script}</script>"
    html += "<li><i class='fa fa-phone'></i>028-86111111<li><i class=icon-mail></i><img src=m.gif>"
    (record,) = records_of(html, URL, SOURCE)
    assert record.values("地址") == ("成都市人民中路1号",)
    assert record.values("联系方式") == FACTS["联系方式"]
    assert {one.where for one in record.found} >= {"json-ld", "icon", "image"}


def test_microdata_of_links_is_their_address() -> None:
    html = f"""<div itemscope itemtype="http://schema.org/Organization"><b itemprop=name>{NAME}</b>
        <a itemprop=email href="mailto:yun@yunshang.test?subject=x">写信</a>
        <a itemprop=url href="http://www.yunshang.test/">主页</a></div>"""
    (record,) = records_of(html, URL, SOURCE)
    assert record.values("网址") == ("http://www.yunshang.test/",)
    assert {one.where for one in record.found if one.field == "网址"} == {"microdata"}


@pytest.mark.parametrize(
    ("link", "value"),
    [
        ("<a itemprop=email href='javascript:'>x@yunshang.test</a>", "x@yunshang.test"),
        ("<a itemprop=email href='MAILTO:x@yunshang.test'>mail</a>", "x@yunshang.test"),
        ("<a itemprop=url href=/>http://www.yunshang.test/</a>", "http://www.yunshang.test/"),
    ],
)
def test_microdata_of_other_links_is_their_text(link: str, value: str) -> None:
    kind = "http://schema.org/Organization"
    html = f"<div itemscope itemtype='{kind}'><b itemprop=name>{NAME}</b>{link}"
    (record,) = records_of(html, URL, SOURCE)
    assert [(one.value, one.where) for one in record.found[1:]] == [(value, "microdata")]


def test_person_in_an_hcard_is_not_its_name() -> None:
    names = f"<b class=name>张三丰</b><b class=fn>{NAME}</b>"
    html = f"<div class=vcard>{names}<b class=tel>028-86111111</b></div>"
    assert [one.name for one in records_of(html, URL, SOURCE)] == [NAME]


def test_directory_of_names_without_legal_form_gives_one_record_per_row() -> None:
    rows = ("老妈火锅<td>028-85000001", "小龙坎<td>028-85000002", "陈麻婆<td>028-85000003")
    html = "".join(f"<tr><td>{row}" for row in rows)
    html = f"<title>成都餐馆名录</title><table><tr><th>名称<th>电话{html}</table>"
    assert [(one.name, one.values("联系方式")) for one in records_of(html, URL, SOURCE)] == [
        ("老妈火锅", ("+86 28 8500 0001",)),
        ("小龙坎", ("+86 28 8500 0002",)),
        ("陈麻婆", ("+86 28 8500 0003",)),
    ]


def test_values_of_one_label_are_in_further_lines() -> None:
    html = "<p>电话：028-86111111<br>86111112</p><p>QQ：10001<br>10002</p>"
    found = values_of(TITLE + html)
    assert found["联系方式"] == ("+86 28 8611 1111", "+86 28 8611 1112")
    assert found["QQ"] == ("10001", "10002")


def test_number_is_not_repeated_without_its_extension() -> None:
    html = "<p>电话：028-86111111-801</p><a href='tel:02886111111'>拨打</a>"
    assert values_of(TITLE + html)["联系方式"] == ("+86 28 8611 1111 ext. 801",)


def test_english_page_is_read() -> None:
    html = (
        "<title>Find us | The Cycle Shed</title><address>The Cycle Shed<br>12 Fore Street<br>"
        "St Ives<br>TR26 1AB</address><dl><dt>Phone<dd>01736 795 795<dt>E-mail"
        "<dd>hello [at] cycleshed.example<dt>Opening times<dd>Tue to Sat, 10 till 6</dl>"
        "<footer>Website by Pixel Barn, 01209 555555</footer>"
    )
    (record,) = records_of(html, "http://cycleshed.example/", CYCLES)
    assert {one.field: one.value for one in record.found} == {
        "name": "The Cycle Shed",
        "address": "12 Fore Street, St Ives, TR26 1AB",
        "telephone": "+44 1736 795795",
        "email": "hello@cycleshed.example",
        "opening hours": "Tue to Sat, 10 till 6",
    }


PHONES = {
    "a further number without its area": (
        "<p>销售一部：028-86111111　86111113</p>",
        ("+86 28 8611 1111", "+86 28 8611 1113"),
    ),
    "hours behind it": (
        "<p>028-86111111 周一至周五 9:00-18:00</p>",
        ("+86 28 8611 1111",),
    ),
    "an unknown label among known ones": (
        "<div><p><b>客房预订 Reservations</b><i>028-86111113</i><p><b>总机 Main</b>028-86111111",
        ("+86 28 8611 1111", "+86 28 8611 1113"),
    ),
    "an extension of one digit": ("<p>电话：028-86111111转6</p>", ("+86 28 8611 1111 ext. 6",)),
    "taxis": ("<p>电话：028-86111111<p>出租车：028-86111113", ("+86 28 8611 1111",)),
    "the maker of the site, up to the next heading": (
        "<h3>网站建设</h3><p>电话：028-86111113</p><h3>欢迎</h3><p>电话：028-86111111</p>",
        ("+86 28 8611 1111",),
    ),
    "an icon amid labels": ("<p>掌柜：阿木 ☎028-86111111 微信号 yun86</p>", ("+86 28 8611 1111",)),
    "a case of a customer": ("<p>客户案例：某港集团 028-86111113<p>电话：028-86111111",
                             ("+86 28 8611 1111",)),
    "several departments in a line": (
        "<p>校长室：028-86111111 教务处：028-86111113</p>",
        ("+86 28 8611 1111", "+86 28 8611 1113"),
    ),
    "a fax that is called a telephone": ("<p>传真电话：028-86111113<p>电话：028-86111111",
                                         ("+86 28 8611 1111",)),
    "an extension behind a gap": ("<p>固话：028-8611 1111-8001", ("+86 28 8611 1111 ext. 8001",)),
    "works beside a head office": (
        "<h3>总公司</h3><p>电话：028-86111111</p><h3>眉山工厂</h3><p>电话：028-86111113</p>",
        ("+86 28 8611 1111",),
    ),
    "a branch in the script of the page": (
        "<p>電話：028-86111111</p><p>北京辦事處 電話：010-86111113</p>", ("+86 28 8611 1111",)),
    "two numbers in pairs of digits": ("<p>028 86 11 11 11 / 028 86 11 11 13</p>",
                                       ("+86 28 8611 1111", "+86 28 8611 1113")),
    "a mail and hours beside it": ("<p>028-86111111　info@yun.test 9点-18点</p>",
                                   ("+86 28 8611 1111",)),
    "of the underwriter": ("<p>保荐机构：某证券 028-86111113<p>电话：028-86111111",
                               ("+86 28 8611 1111",)),
    "parts of a line": ("<p>office 028-86111111; kitchen 028-86111113</p>",
                        ("+86 28 8611 1111", "+86 28 8611 1113")),
    "shops that sell what is made": (
        "<p>电话：028-86111111</p><ul><li>Bristol Market, 3 Main Road - 028-86111113</li></ul>",
        ("+86 28 8611 1111",)),
    "its own support": ("<p>技术支持：四川云上软件有限公司 电话：028-86111111",
                        ("+86 28 8611 1111",)),
    "the text of an image": ("<p>电话：<img src=a.png alt=028-86111111>", ("+86 28 8611 1111",)),
    "numbers for all": ("<h3>常用电话</h3><p>028-86111113<h3>联系</h3><p>028-86111111",
                        ("+86 28 8611 1111",)),
}  # fmt: skip


@pytest.mark.parametrize("case", PHONES)
def test_telephones_of_the_company_are_found(case: str) -> None:
    html, phones = PHONES[case]
    assert set(values_of(TITLE + html)["联系方式"]) == set(phones)


ADDRESSES = (
    ("<p>5801 E 41st St · Truro, TR1 2AB</p>", "5801 E 41st St, Truro, TR1 2AB"),
    ("<p>The Long Branch, 3 Quay, Truro TR1 2AB</p><p>T: 01872 272727</p>",
     "The Long Branch, 3 Quay, Truro TR1 2AB"),
    ("<p>Spoke Ltd. Registered office: 1 Quay, Truro TR1 2AB.</p>", "1 Quay, Truro TR1 2AB"),
    (("<p>Mailing address: PO Box 4, Truro TR1 2AC</p><p>Find us at 1 Quay, Truro TR1 2AB, "
     "two doors down from the pub.</p>"), "1 Quay, Truro TR1 2AB"),
    ("<li><b>Email</b> a@spoke.example</li><li><b>Barn</b> 1 Quay, Truro, TR1 2AB</li>",
     "1 Quay, Truro, TR1 2AB"),
    ("<p>M. Spoke - 1 Quay - Truro TR1 2AB - Tel 01872 272727</p>", "1 Quay, Truro TR1 2AB"),
    ("<p>Add: 1 Quay, Guilin 541001, P. R. China</p>", "1 Quay, Guilin 541001, P. R. China"),
    ("<p>Abbey 01872 603568, Whale House, TR1 2AC tours: 1</p><p>1 Quay<br>Truro<br>TR1 2AB</p>",
     "1 Quay, Truro, TR1 2AB"),
)  # fmt: skip


@pytest.mark.parametrize(("html", "address"), ADDRESSES)
def test_address_begins_and_ends_at_its_parts(html: str, address: str) -> None:
    (record,) = records_of(f"<title>M. Spoke</title>{html}", "http://spoke.example/", CYCLES)
    assert record.values("address") == (address,)


@pytest.mark.parametrize(
    ("html", "name"),
    [
        ((f"<title>{NAME}_Yunshang Software Co., Ltd.</title><p>QQ:10001</p>"
         "<p>Copyright © Yunshang Software Co., Ltd."), NAME),
        ("<title>Legal</title><p>QQ:10001<p>© 2024 Charpentes du Vallon SARL",
         "Charpentes du Vallon SARL"),
        ("<title>Maids of Tulsa</title><p>QQ:10001<p>© Maids of Tulsa, a franchise of Service LLC",
         "Maids of Tulsa"),
        ("<title>云上搬家公司</title><p>QQ:10001<p>四川云上搬家有限公司是一家专业的搬家公司。",
         "四川云上搬家有限公司"),
        ("<title>联系我们</title><p>云上小筑<br>QQ:10001", "云上小筑"),
        ("<title>租车热线-平安租车</title><p>租车热线<p>QQ:10001<p>平安租车", "平安租车"),
    ],
)  # fmt: skip
def test_name_of_the_page(html: str, name: str) -> None:
    assert records_of(html, URL, SOURCE)[0].name == name


def test_page_of_a_branch_is_a_record() -> None:
    name = "宏泰保险股份有限公司成都分公司"
    html = f"<title>{name}</title><h1>{name}</h1><p>电话：028-86111111</p>"
    (record,) = records_of(html, URL, SOURCE)
    assert (record.name, record.values("联系方式")) == (name, ("+86 28 8611 1111",))


def test_icon_in_a_link_labels_the_link() -> None:
    icon = '<a href="tel:02886111111"><i class="icon-phone"></i></a>'
    assert values_of(f"{TITLE}<dl><dd>{icon}</dd><dd><img src=a.png></dd></dl>")["联系方式"] == (
        "+86 28 8611 1111",
    )
    (record,) = records_of(f"{TITLE}<dd>{icon}</dd><dd><img src=a.png></dd>", URL, SOURCE)
    assert not any(one.image for one in record.found)


def test_bold_heading_of_an_address_is_not_part_of_it() -> None:
    html = (
        "<title>Spoke</title><p><b>Visit</b><br>The Old Barn<br>2 Fore Street<br>Truro<br>TR1 2AB"
    )
    (record,) = records_of(html, "http://spoke.example/", CYCLES)
    assert record.values("address") == ("The Old Barn, 2 Fore Street, Truro, TR1 2AB",)


def test_pages_that_agree_are_one_record_of_more_confidence() -> None:
    one = records_of(f"{TITLE}<p>电话：028-86111111</p>", URL, SOURCE)
    other = records_of("<p>电话：028-86111111</p><p>QQ：10001</p>", URL + "?2", SOURCE)
    (record,) = combine([one, other], SOURCE)
    assert (record.name, record.values("QQ"), len(record.urls)) == (NAME, ("10001",), 2)
    before, after = (next(f for f in r.found if f.field == "联系方式") for r in (one[0], record))
    assert before.confidence < after.confidence <= 1


def test_name_is_taken_from_the_home_page() -> None:
    contact = records_of("<title>联系我们</title><p>电话：028-86111111</p>", URL, SOURCE)
    home = records_of(f"<title>{NAME}</title><p>公司组织春游</p>", URL + "?home", SOURCE)
    for pages in ([contact, home], [home, contact]):
        (record,) = combine(pages, SOURCE)
        assert (record.name, record.values("联系方式")) == (NAME, ("+86 28 8611 1111",))
    assert combine([home], SOURCE) == ()  # a name alone is no record


def test_pages_about_different_companies_are_different_records() -> None:
    pages = [
        records_of(f"<title>{name}</title><p>电话：028-8611111{n}</p>", f"{URL}?{n}", SOURCE)
        for n, name in enumerate((NAME, "成都甲木软件有限公司", "云上软件"))
    ]
    assert [one.name for one in combine(pages, SOURCE)] == [NAME, "成都甲木软件有限公司"]


def test_record_without_required_field_is_dropped() -> None:
    pages = [records_of("<p>电话：028-86111111</p>", URL, SOURCE)]
    assert pages[0][0].name == ""
    assert combine(pages, SOURCE) == ()


PIECES = (
    "<table> <tr> <td> <th> </table> <dl><dt> <dd> <p> <br> 电话： 邮箱 028-86111111 a@b.com 公司 "
    "<img/src=a.gif/alt=电话> 有限公司 四川云上软件 地址： 成都市人民路1号 <h3> 北京分公司 | "
    "<a/href=tel:1> <i/class=icon-phone> </i>"
)


@bounded(max_examples=150)
@given(st.lists(st.sampled_from(PIECES.split()), max_size=25))
def test_records_of_any_markup_are_consistent(pieces: list[str]) -> None:
    html = "".join(pieces)
    records = records_of(html, URL, SOURCE)
    assert records == records_of(html, URL, SOURCE)
    for record in records:
        assert all(0 < one.confidence <= 1 for one in record.found)
        assert Record.from_dict(record.as_dict()) == record
        assert record.urls == (URL,)
    assert len(combine([records, records], SOURCE)) <= len(records)
