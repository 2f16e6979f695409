"""Tests of extraction with a site's frame."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from topiccrawl.addons.frames.frame import CHECK_EVERY, MIN_ARTICLES, SiteFrame
from topiccrawl.extract.extract import Conditions, extract_by
from topiccrawl.extract.frames import MISSES, FrameTrial

if TYPE_CHECKING:
    from topiccrawl.model import Extracted

LINE = "记者在现场看到，许多人早早来到这里，等待新的展览开幕。"
HOTLINE = "如果您有新闻线索，欢迎拨打本报的热线电话，我们将及时回复。"


def page(number: int, box: str = "text", rest: str = "") -> str:
    body = "".join(f"<p>第{number}号消息第{n}段。{LINE}</p>" for n in range(4))
    return (
        f"<title>第{number}号消息</title><h1>第{number}号消息</h1><p>2020年03月04日 10:20</p>"
        f'<div class="{box}">{body}<p>{HOTLINE}</p></div>{rest}'
    )


def extract(html: str, url: str, frame: SiteFrame) -> Extracted | None:
    found = extract_by(html, url, None, Conditions(frame=frame.view()))
    frame.learn(found.trial, found.body)
    return found.extracted


def learnt(pages: int = MIN_ARTICLES + 1) -> SiteFrame:
    frame = SiteFrame()
    for number in range(pages):
        assert extract(page(number), "http://a.test/x", frame=frame) is not None
    return frame


def body(html: str, frame: SiteFrame) -> list[str]:
    found = extract(html, "http://a.test/x", frame=frame)
    assert found is not None
    return found.body.split("\n")


def test_repeated_lines_are_removed_from_the_body() -> None:
    fresh = SiteFrame()
    assert body(page(1), fresh)[-1] == HOTLINE
    frame = learnt()
    assert frame.box == "div.text"
    assert frame.repeated == {HOTLINE: frame.pages}
    assert body(page(77), frame) == [f"第77号消息第{n}段。{LINE}" for n in range(4)]


def test_full_body_is_returned_with_a_frame_only() -> None:
    without = extract_by(page(1), "http://a.test/x", None, Conditions())
    given = extract_by(page(1), "http://a.test/x", None, Conditions(frame=SiteFrame().view()))
    assert without.extracted == given.extracted
    assert without.body is None
    assert given.body is not None
    assert given.body.text.endswith(HOTLINE)


def test_learnt_box_is_preferred_to_a_longer_one() -> None:
    others = "".join(f"<p>另一篇文章的第{n}段。{LINE}</p>" for n in range(40))
    rest = f"<div class=other>{others}</div>"
    assert len(body(page(7, rest=rest), SiteFrame())) > 10
    frame = learnt()
    frame.learn(FrameTrial(used=True), None)  # the next page is not a check
    assert len(body(page(7, rest=rest), frame)) == 4


def test_selector_and_kept_lines_of_the_operator_are_used() -> None:
    frame = learnt()
    frame.kept.add(HOTLINE)
    assert HOTLINE in body(page(8), frame)
    frame.by_hand = "div.nowhere"
    assert frame.box == "div.nowhere"
    assert body(page(9), frame)[0].startswith("第9号消息")


def test_frame_of_a_changed_site_is_learnt_again() -> None:
    frame = learnt()
    for number in range(MISSES):
        body(page(number, box="story"), frame)
    assert frame.box == ""
    for number in range(MIN_ARTICLES):
        body(page(number, box="story"), frame)
    assert frame.box == "div.story"


def test_every_nth_page_is_checked() -> None:
    frame = learnt()
    due = 0
    for _ in range(10 * CHECK_EVERY):
        due += frame.view().due
        frame.learn(FrameTrial(used=True), None)
    assert due == 10


@pytest.mark.parametrize("frame", [SiteFrame(), learnt()], ids=["new", "learnt"])
def test_frame_is_unchanged_by_json(frame: SiteFrame) -> None:
    restored = SiteFrame.from_json(json.loads(json.dumps(frame.to_json())))
    assert (restored.box, restored.repeated, restored.pages) == (
        frame.box,
        frame.repeated,
        frame.pages,
    )


@pytest.mark.parametrize("box", ["b", "a", "span", "button"])
def test_selected_box_may_be_any_element(box: str) -> None:
    frame = SiteFrame()
    frame.by_hand = "#story"
    frame.learn(FrameTrial(used=True), None)  # the next page is not a check
    text = "".join(f"第{n}段。{LINE}<br>" for n in range(4))
    html = page(1).replace("</h1>", f"</h1><div><{box} id=story>{text}完。{LINE}</{box}></div>")
    assert [line[:2] for line in body(html, frame)] == ["第0", "第1", "第2", "第3", "完。"]
