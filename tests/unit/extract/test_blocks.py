"""Tests of the layout: visible parts of a page, and boxes that belong to the frame."""

from __future__ import annotations

import time

import pytest

from topiccrawl.extract.blocks import lay_out
from topiccrawl.extract.body import LONGEST
from topiccrawl.extract.boilerplate import is_footer, is_frame_box, is_side_box
from topiccrawl.extract.density import choose
from topiccrawl.extract.extract import extract
from topiccrawl.links.limits import parse_html

LINE = "The council met on Monday and spoke about the bridge, the budget and the water supply. "
URL = "http://valley.test/x"


def article(text: str) -> str:
    return f"<html lang=en><h1>The bridge</h1><p>2024-05-03 10:00</p>{text}"


def body(html: str) -> str:
    found = extract(html, URL)
    return "" if found is None else found.body


def test_streamed_hidden_parts_are_visible() -> None:
    streamed = f'<div hidden id="S:1"><p>{LINE * 6}</p></div>'
    assert LINE.strip() in body(article(streamed))


def test_other_hidden_parts_are_not_visible() -> None:
    concealed = f"<div hidden><p>Sealed. {LINE}</p></div>"
    assert "Sealed" not in body(article(f"<p>{LINE * 6}</p>{concealed}"))


@pytest.mark.parametrize(
    "names", ["content-sidebar-wrap", "col theme-sidebar primary", "text-and-related"]
)
def test_box_of_columns_is_not_frame(names: str) -> None:
    text = "".join(f"<p>Number {n}. {LINE * 2}</p>" for n in range(9))
    notes = f"<div class=notes><p>{LINE * 4}</p></div>"
    found = body(article(f"<div class='{names}'><div>{text}</div></div>{notes}"))
    assert "Number 0." in found
    assert "Number 8." in found


def test_parts_of_a_sidebar_grid_are_not_frame() -> None:
    assert not is_frame_box("div", "sidebar-grid__content article__content")
    assert not is_side_box("sidebar-grid sidebar-grid--is-narrow")
    assert is_frame_box("div", "sidebar-grid__sidebar")


@pytest.mark.parametrize("mark", ["div class=foot", "div class=copyRight", "footer"])
def test_footer_of_a_page_without_text_is_no_body(mark: str) -> None:
    footer = "主办：新城市教育局，技术支持：信息中心，地址：中山路一号，未经许可不得复制。" * 2
    html = f"<h1>校历</h1><p>2016-01-12</p><{mark}>{footer}</{mark.split(maxsplit=1)[0]}>"
    root = parse_html(html).body
    assert root is not None
    assert not choose(lay_out(root)).blocks


def test_options_of_a_form_are_no_text_of_a_page_without_text() -> None:
    options = "".join(
        f"<option>Office of education of the district of bridge {n}" for n in range(40)
    )
    form = (
        f"<p><a href=/1>Office</a> <a href=/2>Bridge</a></p><div><select>{options}</select></div>"
    )
    assert body(article(form)) == ""


def test_footer_of_a_page_without_text_is_no_second_opinion() -> None:
    head = "<div class=head><h1>新城规划办</h1></div><h2>变更审批表</h2><div>2016-01-12 23:02</div>"
    lines = (
        "版权所有©2002-2018新城市哲学社会科学规划领导小组办公室",
        "电话：0100-5550100　传真：0100-5550101　邮编：530022",
        "地址：新城市中山路一号，投稿邮箱：office@newtown.test，未经许可，不得复制本网站的任何内容。",
        "备案号：45010302000153，技术支持：新城新闻网，建议使用最新的浏览器，以获得最佳的浏览效果。",
    )
    footer = "".join(f"<p>{line}</p>" for line in lines)
    footer = f"<div class=footer><div class=footer-main>{footer}</div></div>"
    assert not body(f"{head}<div class=content><p><a href=/f>文件下载：</a></p></div>{footer}")


def test_short_text_in_a_box_of_body_and_footer_is_text() -> None:
    text = f"<div class=body-and-footer><div class=text><p>{LINE * 3}</p></div></div>"
    assert body(article(text)) == (LINE * 3).strip()


@pytest.mark.parametrize("names", ["football-news", "footnotes", "footage list"])
def test_box_with_foot_in_another_word_is_no_footer(names: str) -> None:
    assert not is_footer("div", names)
    assert is_footer("div", "foot_nav")
    assert is_footer("footer", names)


def test_long_consent_request_is_frame() -> None:
    request = f"<div id='consent-sdk'><p>Your choice. {LINE * 12}</p></div>"
    found = body(article(f"<div class='story'><p>{LINE * 8}</p></div>{request}"))
    assert LINE.strip() in found
    assert "Your choice" not in found


def test_last_line_of_a_box_that_ends_no_line_belongs_to_it() -> None:
    lines = "<br>".join(f"Number {n}. {LINE * 2}" for n in range(6))
    found = body(article(f"<center>Read 45 times</center><font>{lines}</font><p>Print</p>"))
    assert "Number 0." in found
    assert "Number 5." in found


def test_numbers_of_lines_of_code_are_no_text() -> None:
    numbers = "".join(f"<span class=line>{n}</span><br>" for n in range(1, 13))
    code = f"<table><tr><td><pre>{numbers}</pre><td><pre>open(12)<br>close(12)</pre></table>"
    found = body(article(f"<p>{LINE * 6}</p>{code}<p>Then {LINE * 3}</p><pre>4\n2</pre>"))
    lines = found.split("\n")
    assert lines[1:3] == ["open(12)", "close(12)"]
    assert lines[-1] == "4 2"


def test_numbers_in_elements_of_code_inside_each_other_take_linear_time() -> None:
    page = parse_html("<body>" + "<pre>" * 500 + " ".join(map(str, range(1, 200_000))) + " x")
    assert page.body is not None
    began = time.process_time()
    lay_out(page.body)
    assert time.process_time() - began < 3.0, "quadratic: ten seconds"


def test_dialogs_are_no_text() -> None:
    request = f"<h4>Privacy</h4><p>This website uses cookies. {LINE * 9}</p>"
    nested = f"<div role=dialog><div role=alertdialog>{request}</div>{request}</div>"
    for box in (nested, f"<div class=modal role=dialog>{request}</div>", f"<dialog>{request}"):
        page = f"<div class=modal-open>{article(f'<p>{LINE * 4}</p>')}</div>{box}"
        assert body(page) == (LINE * 4).strip()
        assert body(f"<h1>The bridge</h1><p>2024-05-03 10:00</p>{box}") == ""
    inside = article(f"<p>{LINE * 4}</p>")
    for start in ("<body role=dialog>", "<dialog id=menu />", "<div role=dialog><h1>Bridge</h1>"):
        assert body(f"{start}{inside}") == (LINE * 4).strip()


def test_text_for_readers_without_scripts_is_text() -> None:
    text = f"<p>{LINE * 2}</p>" * 3
    assert body(article(f"<noscript>{text}</noscript>")) == "\n".join([(LINE * 2).strip()] * 3)
    request = "<noscript><p>Please enable scripts. We need them to show pages.</p></noscript>"
    assert body(article(f"{request}<p>{LINE * 4}</p>")) == (LINE * 4).strip()
    notice = "<p>Please enable scripts to see it, or call us. We answer at once.</p>" * 3
    assert (
        body(article(f"<noscript>{notice}</noscript><div>{LINE * 8}</div>")) == (LINE * 8).strip()
    )
    began = time.process_time()
    assert body(article(f"<noscript>{text}</noscript>") + "<noscript" * 50_000)
    assert time.process_time() - began < 3.0, "quadratic: minutes"
    copies = f"<noscript>{text}</noscript>{text}"
    assert body(article(copies)) == "\n".join([(LINE * 2).strip()] * 3)


def test_styles_do_not_push_the_text_out_of_a_long_page() -> None:
    styles = f"<style>{'a{color:red}' * (LONGEST // 12)}</style>"
    assert body(styles + article(f"<p>{LINE * 4}</p>")) == (LINE * 4).strip()
    began = time.process_time()
    assert body("<style>" * (LONGEST // 5)) == ""
    assert time.process_time() - began < 3.0, "quadratic: minutes"


def test_parts_of_the_frame_within_the_text_are_no_text() -> None:
    before, after = (f"<p>{word} we went. {LINE * 3}</p>" for word in ("First", "Then"))
    popup = "<aside class=popup><h1>Thanks for being a member of our team</h1><p>Bye</p></aside>"
    author = f"<div class=post-author><h3>About the author</h3><p>Jo writes. {LINE * 2}</p></div>"
    share = "<div class=share-bar>Share this:</div>"
    found = body(article(f"<div>{share}{before}{popup}{after}{share}{popup}{author}</div>"))
    assert (
        found == f"First we went. {LINE * 3}\nThen we went. {LINE * 3}".replace(" \n", "\n").strip()
    )


def test_heading_of_the_links_after_the_text_is_no_text() -> None:
    text = f"<p>{LINE * 3}</p><h2>The budget</h2><p>{LINE * 3}</p>"
    links = "".join(f"<li><a href=/{n}>A story about the river {n}</a>" for n in range(5))
    found = body(article(f"<div>{text}<h3>Related stories</h3><ul>{links}</ul></div>"))
    assert "The budget" in found
    assert "Related" not in found


def test_paragraphs_before_the_box_of_the_text_belong_to_it() -> None:
    first, rest = f"<p>First we went. {LINE * 2}</p>", f"<p>{LINE * 3}</p>" * 6
    found = body(article(f"<div class=row>{first}</div><div class=row><div>{rest}</div></div>"))
    assert found.startswith("First we went.")


def test_paragraphs_of_other_boxes_above_an_h1_do_not_belong_to_the_text() -> None:
    request = "We use cookies to give you the best experience, and you agree to that by reading."
    text = "".join(f"<p>Number {n}. {LINE * 2}</p>" for n in range(9))
    page = f"<title>The bridge</title><div class=top><p>{request}</p></div>{{}}<div>{text}</div>"
    assert body(page.format("")).startswith("Number 0.")
    assert body(page.format("<h1>The bridge</h1>")).startswith("Number 0.")


def test_paragraphs_that_other_lines_separate_from_the_text_belong_to_it() -> None:
    ad = "<div class=links><h2>Related</h2><a href=/a>The old bridge of the valley</a></div>"
    head = f"<div><p>The first line. {LINE * 2}</p><p>The second line. {LINE * 2}</p></div>"
    text = f"<div>{f'<p>{LINE * 2}</p>' * 12}</div>"
    assert body(article(head + ad + text)).startswith("The first line. ")
    caption = "<p>The bridge as it was seen from the mill on Monday.</p>"
    assert "from the mill" not in body(article(caption + ad + text))


def test_box_of_the_text_may_be_named_for_its_author() -> None:
    text = f"<div class=text><p>{LINE * 4}</p><p>{LINE * 2}</p></div>"
    note = "<p class=author-note>Jane Miller writes about rivers.</p>"
    found = body(article(f'<div class="entry entry-author-jane">{text}{note}</div>'))
    assert found.count(LINE.strip()) == 6
    assert "Jane Miller" not in found


def test_box_named_page_may_have_the_text() -> None:
    notes = "".join(f"<div class=note><p>Note {n}. {LINE * 3}</p></div>" for n in range(9))
    text = f"<div class=page-content><p>First we went. {LINE * 9}</p><p>{LINE * 9}</p></div>"
    found = body(f"<h1>The bridge</h1><div>{text}</div><div>{notes}</div>")
    assert found.startswith("First we went.")


def test_headline_with_the_sites_name_is_not_repeated_in_the_body() -> None:
    text = "".join(f"<p>Number {n}. {LINE * 2}</p>" for n in range(9))
    site = "Newtown Station of the National Academy of Sciences and Letters"
    headline = "The bridge over the river opened: a report on the bridge and its long history"
    shown = f"<div><p>{headline}</p></div>"
    found = body(
        f"<title>{headline}----{site}</title><p>2024-05-03</p>{shown}<div><div>{text}</div></div>"
    )
    assert found.startswith("Number 0.")


def test_shown_code_of_advertisements_is_no_text() -> None:
    code = "<p>(adsbygoogle = window.adsbygoogle || ).push({});</p>"
    found = body(article(f"<div><p>{LINE * 4}</p>{code}<p>{LINE * 4}</p></div>"))
    assert found.count(LINE.strip()) == 8
    assert "adsbygoogle" not in found


def test_marks_and_words_between_characters_are_counted_as_written() -> None:
    root = parse_html("<p>新.车iPhone、iPad售价3.5万元!见a.test网站.</p>").body
    assert root is not None
    (block,) = lay_out(root).blocks
    assert (block.size, block.stops) == (9 + 3 * 2, 2)  # iPhone, iPad, test
