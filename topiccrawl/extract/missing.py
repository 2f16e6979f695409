"""Pages without text: error pages with status 200, checks of visitors, pages for a browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topiccrawl.model import Page

LONGEST = 400
"""Most letters of an error page; articles about missing pages are longer."""

LONGEST_CHALLENGE = 500
"""Most bytes (UTF-8) of the text of a check of the visitor; short news is longer with its frame."""

BLANK = 200
"""Most characters of visible text of a blank page."""

_NOT_FOUND = re.compile(
    r"(?<![0-9])404(?![0-9])"
    r"|(?:page|file|article|story|document)s? (?:was |is |could )?not (?:be )?found"
    r"|(?:no longer|not) (?:available|exists?)|does(?: not|n['’]t) exist"
    r"|(?:页面|网页|文章|内容|页|新闻|帖子|信息)(?:已经?|暂时?)?(?:不存在|被?删除|下线|失效|过期|找不到|丢失|走丢)"
    r"|(?:找不到|无法找到|没有找到|未找到)(?:您|你)?(?:要?访问|请求|需要|想看|浏览)?的?(?:页|网页|页面|文章|内容)",
    re.IGNORECASE,
)  # fmt: skip


_CHALLENGE = re.compile(
    r"(?:访问|请求|操作)(?:(?:过于|太过?)?频繁|(?:次数)?[过太]多)"
    r"|(?:访问|请求|流量|行为|环境)(?:存在)?异常"
    r"|异常(?:访问|流量|请求)|(?:安全|人机|身份|滑动|滑块)(?:验证|校验)|拖动.{0,6}滑块"
    r"|just a moment\.\.\.|checking your browser|enable javascript and cookies to continue"
    r"|pardon our interruption|unusual (?:traffic|activity)|too many requests"
    r"|(?:verify|confirm|prove)(?:ing)? (?:that )?you(?: a|['’])re (?:a )?(?:human|not a robot)",
    re.IGNORECASE,
)


def is_challenge(title: str, text: str) -> bool:
    """Return whether a page checks its visitor, or refuses a frequent one, instead of its content.

    Args:
        title: Text of ``<title>``.
        text: Text of the page with its menus (``Page.text``): a hub may have a hidden check, too.

    >>> is_challenge("", "访问过于频繁，请稍后再试"), is_challenge("Just a moment...", "")
    (True, True)
    >>> is_challenge("专家谈安全验证", "网站为什么要求安全验证？" + "记者就此采访了几位专家。" * 40)
    False
    """
    size = len(text.encode("utf-8", "replace"))
    return size <= LONGEST_CHALLENGE and _CHALLENGE.search(f"{title}\n{text}") is not None


def is_missing(title: str, text: str) -> bool:
    """Return whether a page reports that the requested page does not exist.

    Args:
        title: Text of ``<title>``.
        text: Text of the page without menus (``Page.prose``).

    >>> is_missing("提示信息", "抱歉，您访问的页面不存在！3 秒后返回首页")
    True
    >>> is_missing("新闻", "页面不存在的时候，" + "编辑部会收到一条提示，随后派人核实。" * 30)
    False
    """
    if len(text) > 4 * LONGEST or sum(map(str.isalnum, text)) > LONGEST:
        return False
    return _NOT_FOUND.search(f"{title}\n{text}") is not None


def is_blank(page: Page, html: str) -> bool:
    """Return whether a page has almost no text, but scripts that may add text.

    >>> from topiccrawl.model import Page
    >>> is_blank(Page("http://a.test/", "", ""), "<div id=app></div><script src=a.js></script>")
    True
    """
    return len(page.text) <= BLANK and "<script" in html
