"""Detection of soft 404 errors: error pages with status 200."""

from __future__ import annotations

import re

LONGEST = 400
"""Most letters of an error page; articles about missing pages are longer."""

_NOT_FOUND = re.compile(
    r"(?<![0-9])404(?![0-9])"
    r"|(?:page|file|article|story|document)s? (?:was |is |could )?not (?:be )?found"
    r"|(?:no longer|not) (?:available|exists?)|does(?: not|n['’]t) exist"
    r"|(?:页面|网页|文章|内容|页|新闻|帖子|信息)(?:已经?|暂时?)?(?:不存在|被?删除|下线|失效|过期|找不到|丢失|走丢)"
    r"|(?:找不到|无法找到|没有找到|未找到)(?:您|你)?(?:要?访问|请求|需要|想看|浏览)?的?(?:页|网页|页面|文章|内容)",
    re.IGNORECASE,
)  # fmt: skip


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
