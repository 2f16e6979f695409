"""Tests of the begin of a body, and of removing labels from it."""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from topiccrawl.extract.blocks import Layout, lay_out
from topiccrawl.extract.body import with_lead, without_labels
from topiccrawl.extract.extract import extract

LEAD = "The river rose by two metres in one night, and three villages were left without power."
BODY = "It rained for a day.\nThe dam held."


def layout(html: str) -> Layout:
    body = LexborHTMLParser(f"<body>{html}</body>").body
    assert body is not None
    return lay_out(body)


def page(above: str) -> Layout:
    return layout(f"{above}<div><p>It rained for a day.</p><p>The dam held.</p></div>")


def test_paragraph_of_the_description_is_added_as_lead() -> None:
    above = page(f"<h1>Flood</h1><p>{LEAD}</p><div>Photo</div>")
    assert with_lead(BODY, above, [LEAD[:70]]) == f"{LEAD}\n{BODY}"
    short = page("<h1>Flood</h1><p>The river rose by two metres and three villages were dark.</p>")
    assert with_lead(BODY, short, [f"{short.blocks[1].text} It rained for a day."]) != BODY
    assert with_lead(BODY, above, ["Another description of forty letters or some more"]) == BODY


def test_link_or_text_above_the_headline_is_no_lead() -> None:
    assert with_lead(BODY, page(f"<h1>Flood</h1><p><a>{LEAD}</a></p>"), [LEAD]) == BODY
    assert with_lead(BODY, page(f"<p>{LEAD}</p><h1>Flood</h1>"), [LEAD]) == BODY


def test_lead_in_the_body_is_not_added() -> None:
    text = f"It rained for a day.\n{LEAD}"
    assert with_lead(text, page(f"<p>{LEAD}</p>"), [LEAD]) == text


def test_repeated_labels_are_removed_but_not_headings() -> None:
    html = "".join(
        f"<p>It rained on day {n}.</p><div>Advertisement</div><h3>Pros</h3>" for n in "123"
    )
    blocks = layout(html)
    text = "\n".join(block.text for block in blocks.blocks)
    kept = without_labels(text, blocks)
    assert "Advertisement" not in kept
    assert kept.count("Pros") == 3


def test_labels_of_a_table_are_kept() -> None:
    html = "<div>Size</div><div>Weight</div><div>Price</div>" * 3
    blocks = layout(html)
    text = "\n".join(block.text for block in blocks.blocks)
    assert without_labels(text, blocks) == text


def test_names_of_speakers_are_kept() -> None:
    html = "".join(
        f"<div>记者：</div><p>第{n}个问题。</p><div>市长：</div><p>第{n}个回答。</p>" for n in "123"
    )
    blocks = layout(html)
    text = "\n".join(block.text for block in blocks.blocks)
    assert without_labels(text, blocks) == text


@pytest.mark.parametrize(
    ("above", "kept"),
    [
        ("<h2 class=title><span>24 Jun</span> Old bridge closes</h2>", ""),
        ("<h1>Old bridge closes</h1><div><i>24</i> <i>Jun</i></div>", ""),
        ("<h1>Old bridge closes</h1><p>June 24</p>", ""),
        ("<h1>Old bridge closes</h1><p>24 Juno</p>", "24 Juno\n"),
    ],
)
def test_body_does_not_begin_with_a_day_without_year(above: str, kept: str) -> None:
    text = f"<p>{LEAD}" * 8
    html = f"<title>Old bridge closes - Valley News</title><article>{above}{text}</article>"
    found = extract(html, "http://a.test/old-bridge-closes/")
    assert found is not None
    assert found.title == "Old bridge closes"
    assert found.body.startswith(f"{kept}{LEAD}")
