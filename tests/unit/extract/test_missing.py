"""Tests of detecting error pages and checks of visitors."""

from __future__ import annotations

import pytest

from topiccrawl.extract.missing import LONGEST, is_challenge, is_missing


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
def test_error_page_is_detected(title: str, text: str) -> None:
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
def test_short_page_is_no_error_page(title: str, text: str) -> None:
    assert not is_missing(title, text)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("", "您的访问过于频繁，请输入验证码后继续"),
        ("百度安全验证", "网络不给力，请稍后重试 返回首页"),
        ("", "为了您的账号安全，请拖动滑块完成验证"),
        ("Just a moment...", "Enable JavaScript and cookies to continue"),
        ("", "Please verify you are a human. Reference ID 1234."),
        ("Error", "Too many requests"),
    ],
)
def test_challenge_page_is_detected(title: str, text: str) -> None:
    assert is_challenge(title, text)
    assert not is_challenge(title, text + "记者昨天在现场看到的情形和前几天大不一样。" * 20)


@pytest.mark.parametrize(
    "text", ["图为清晨的山谷。", "网络文学频繁改编成电视剧", "总理将访问多国", "", "Log in"]
)
def test_short_page_is_no_challenge_page(text: str) -> None:
    assert not is_challenge("", text)
