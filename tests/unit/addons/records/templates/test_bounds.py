"""Tests of the limits on hostile pages: the work of extraction is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from topiccrawl.addons.records.templates import layout, structured
from topiccrawl.addons.records.templates.extract import records_of
from topiccrawl.addons.records.templates.layout import LONGEST_LINE, MOST_TEXT, read_layout
from topiccrawl.addons.records.templates.template import resolve
from topiccrawl.addons.records.templates.values.names import organisations
from topiccrawl.addons.records.templates.values.plain import numbers
from topiccrawl.addons.records.templates.words import MOST_HITS, Vocabulary
from topiccrawl.links.limits import parse_html

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

TEMPLATE = resolve("软件公司-四川")


def test_only_the_first_labels_of_a_line_are_read() -> None:
    hits = Vocabulary(TEMPLATE).hits("电话:" * (LONGEST_LINE // 3))
    assert len(hits) == MOST_HITS
    assert [hit.start for hit in hits] == list(range(0, 3 * MOST_HITS, 3))


def test_name_after_many_capitals_is_found() -> None:
    found = organisations("Am " * 900 + "Tarn Cycles Ltd")
    assert [one.value.endswith("Am Tarn Cycles Ltd") for one in found] == [True]


@pytest.mark.parametrize("group", ["111 ", "11,"])  # each number would look at all groups after it
def test_long_run_of_groups_is_read_in_one_pass(group: str) -> None:
    assert len(numbers(group * 50_000)) == 50_000


def test_text_of_a_page_is_limited() -> None:
    layout = read_layout("<title>x</title>" + f"<p>{'文' * LONGEST_LINE}" * 400)
    assert MOST_TEXT - LONGEST_LINE < sum(len(line.text) for line in layout.lines) <= MOST_TEXT


@pytest.mark.parametrize(("name", "most"), [("MOST_TEXT", 300), ("MOST_LINES", 5)])
def test_page_cut_off_within_boxes_is_read_up_to_the_limit(
    monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(layout, name, most)
    cells = "".join(f"<tr><td>分公司{n}<td>电话<td>028-8512345{n % 10}</tr>" for n in range(60))
    page = (
        f"<title>四川天府软件有限公司</title><div><p>电话：028-85123456<table>{cells}</table></div>"
    )
    (record,) = records_of(page, "http://a.test/", TEMPLATE)
    assert record.values("联系方式")[0] == "+86 28 8512 3456"


def test_text_of_a_repeated_class_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    content = structured._content

    def count(node: LexborNode, prop: str) -> str:
        read.append(prop)
        return content(node, prop)

    monkeypatch.setattr(structured, "_content", count)
    html = f"<div class=vcard><p class='{'org tel ' * 9}'>四川天府软件有限公司</div>"
    assert [one.name for one in structured.subjects(parse_html(html))] == ["四川天府软件有限公司"]
    assert read == ["legalName", "telephone"]
