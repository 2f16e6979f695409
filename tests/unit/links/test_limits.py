"""Tests of the limits of markup, by the sizes of the parsed trees."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topiccrawl
from topiccrawl.links import limits
from topiccrawl.links.limits import limit_markup, parse_html

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

PARAGRAPHS = "<p>x" * 3_000
NAMES = [f"a{number}" for number in range(9_000)]
FORMATS = ["b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u"]
COSTLY = {
    "attributes": f"<p {' '.join(NAMES)}>text",
    "attributes-end-at-once": f"<p {' '.join(NAMES)}",
    "slashes": f"<p/{'/'.join(NAMES)}>text",
    "no-blanks": "<p " + "".join(f'{name}="1"' for name in NAMES) + ">text",
    "a-tag-in-a-tag": f"<q {' '.join(NAMES[:300])} x='<p {' '.join(NAMES)}'>text",
    "hidden-ends": "<p " + " ".join(f'{name}=">"' for name in NAMES) + ">text",
    "one-hidden-end": f"<p x='>>' {' '.join(NAMES)}>text",
    "roots": "".join(f"<html {name}><body {name}>" for name in NAMES) + "text",
    "options": "<select>" + "<option>x" * 9_000 + "</select>text",
    "options-in-boxes": "<select>" + "<div><option>x</option></div>" * 9_000 + "</select>text",
    "fonts": "<p>" + "".join(f"<font {name}>" for name in NAMES[:400]) + PARAGRAPHS,
    "fonts-with-tags-in-values":
        "<p>" + "".join(f"<font a='<{name}'>" for name in NAMES[:400]) + PARAGRAPHS,
    "fonts-closed-at-last":
        "<p>" + "".join(f"<i {n}>" for n in NAMES[:400]) + PARAGRAPHS + "</i>" * 400,
    "every-format-thrice": "<p>" + "".join(f"<{n}>" * 3 for n in FORMATS) + PARAGRAPHS * 10,
    "boxes": "<div>" * 9_000 + "text",
    "boxes-after-surplus-ends": "<i></i>" + "</i>" * 9_000 + "<div>" * 9_000 + "text",
    "names-with-points": "<p.x>" * 9_000 + "text",
    "ruby": "<rt>" * 9_000 + "text",
    "groups-of-options": "<optgroup>" * 9_000 + "text",
    "links-in-drawings": "<svg>" + "<a>" * 9_000 + "text",
    "strokes": "<svg>" + "<path>" * 9_000 + "text",
    "strokes-that-look-closed": "<svg>" + "<path a='/>'b=/>" * 9_000 + "text",
    "inputs-in-drawings": "<svg>" + "<input>" * 9_000 + "text",
    "tags": "<br>" * 700_000,
}  # fmt: skip


def nodes(root: LexborNode | None) -> tuple[int, int, int]:
    """Return the number of nodes, the depth, and the most attributes of an element."""
    count = deepest = attributes = 0
    stack = [(root, 1)]
    while stack:
        node, depth = stack.pop()
        if node is None:
            continue
        count += 1
        deepest = max(deepest, depth)
        if node.tag not in {"-text", "-comment", "-doctype"}:
            attributes = max(attributes, len(node.attributes))
        stack += [(node.next, depth), (node.child, depth + 1)]
    return count, deepest, attributes


@pytest.mark.parametrize("html", COSTLY.values(), ids=COSTLY)
def test_tree_of_a_costly_page_is_small(html: str) -> None:
    tree = parse_html(html)
    count, depth, attributes = nodes(tree.root)
    assert count < 2 * html.count("<") + 100
    assert depth < limits.MAX_DEPTH + 50
    assert attributes <= limits.MAX_ATTRIBUTES
    options = len(tree.css("option, optgroup"))
    assert options <= limits.MAX_OPTIONS


CONTINUED = {
    "after-a-long-value": f"<p x={'x' * 400} y='>' {' '.join(NAMES)}>text",
    "between-two-values": f"<p x='>' y={'x' * 400} z='>' {' '.join(NAMES)}>text",
    "after-a-script": f"<script>x='</script><p y=\">'{'x' * 400}\" {' '.join(NAMES)}>text",
}


@pytest.mark.parametrize("html", CONTINUED.values(), ids=CONTINUED)
def test_attributes_are_counted_after_a_value_with_an_angle_bracket(html: str) -> None:
    _, _, attributes = nodes(parse_html(html).root)
    assert attributes <= 2 * limits.MAX_ATTRIBUTES


TEXTS = {
    "formats": ("<p>" + "<b class=x>新能源</b>汽车<i>！</i>" * 2_000, "新能源汽车！" * 2_000),
    "many-formats-each-other": (
        "".join(f"<p><b class=x{n}>新</b>能" for n in range(3_000)), "新能" * 3_000),
    "script": ("<script>for(i=0;i<n;i++){" + "a b c " * 400 + "}</script><p>text", "text"),
    "letters": (f"<p>{'1 < 2 and a word more, ' * 400}<b>text</b>", None),
    "drawing": ("<p>" + "<svg><path d='M1 /2'/><use xlink:href=#a /></svg>text " * 900,
                "text" * 900),
    "values": ("<a data-x='{" + '"a": [1, 2], ' * 300 + "}' href=/x>text</a>", "text"),
    "soft-hyphens": ("<p>te&shy;x\xadt", "text"),
    "comment": (f"<!-- a <b {'c ' * 500} --><p>text", "text"),
}  # fmt: skip


@pytest.mark.parametrize(("html", "text"), TEXTS.values(), ids=TEXTS)
def test_ordinary_markup_keeps_its_text(html: str, text: str | None) -> None:
    tree = parse_html(html)
    tree.strip_tags(["script"])
    assert tree.body is not None
    found = "".join(tree.body.text().split())
    assert found == text if text is not None else found.endswith("text")


def test_only_formatting_elements_are_counted_as_such() -> None:
    """Names that begin like those of formatting elements, such as br and span."""
    others = "<br><img src=x><span>新</span><ul><li>能</ul>" * 800
    assert len(parse_html(f"<p><b>源</b>{others}").css("b")) == 1


def test_shortened_tag_keeps_its_first_attributes_and_text() -> None:
    tree = parse_html(f"<a href=/x {' '.join(NAMES)}>text</a>")
    (link,) = tree.css("a")
    assert (link.attributes["href"], link.text()) == ("/x", "text")


@given(st.text("<>/='\" abps!-", max_size=300).map(lambda text: text * 20))
def test_only_pages_over_the_limit_are_changed(html: str) -> None:
    assert limit_markup(html[:400]) == html[:400]
    assert len(limit_markup(html)) <= len(html) + 3 * html.count("<")


def test_pages_are_parsed_only_in_known_places() -> None:
    root = Path(topiccrawl.__file__).parent
    parsers = re.compile(
        r"(?<!>>> )\b(LexborHTMLParser|HTMLParser|lxml\.html\.fromstring|etree\.HTML"
        r"|readability\.Document)\("
    )
    found = {
        (path.relative_to(root).as_posix(), match[1])
        for path in root.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if ">>>" not in line and (match := parsers.search(line))
    }
    assert found == {
        ("links/limits.py", "LexborHTMLParser"),
        ("extract/body.py", "lxml.html.fromstring"),  # both parse the output of links/limits.py
        ("extract/body.py", "readability.Document"),
    }
