from __future__ import annotations

import pytest

from topiccrawl.extract.missing import LONGEST, is_missing


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("404", ""),
        ("页面没有找到", "抱歉，您访问的页面不存在"),
        ("某某网", "该文章已被删除，5秒后返回首页"),
        ("提示", "对不起，找不到您要访问的网页"),
        ("Page not found", "Try the search box."),
        ("The Courier", "Sorry, the article you asked for is no longer available."),
    ],
)
def test_what_says_that_it_is_not_there(title: str, text: str) -> None:
    assert is_missing(title, text)
    assert not is_missing(title, text + "记者昨天在现场看到的情形和前几天大不一样。" * LONGEST)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("图片：山间的雾", "图为清晨的山谷。"),
        ("第1404期开奖", "昨晚开奖，一等奖两注。"),
        ("", ""),
        ("讣告", "他于昨天去世，享年八十岁。"),
    ],
)
def test_a_short_page_is_not_missing_by_itself(title: str, text: str) -> None:
    assert not is_missing(title, text)
