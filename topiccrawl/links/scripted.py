"""Lists and paging links that scripts write, as publishing systems of many Chinese sites do."""

from __future__ import annotations

import re
from itertools import islice

_PAGING = re.compile(
    r"""createPageHTML\w{0,9}\(\s*+(['"][^'"]{0,100}['"]\s*+,\s*+)?(\d{1,6})\s*+,\s*+(\d{1,6})\s*+,"""
    r"""\s*+['"]([^'"]{1,200})['"]\s*+,\s*+['"](\w{1,10})['"]"""
)
_REDIRECT = re.compile(
    r"""(?<![\w-])location(?:(?:\.href)?\s*+=|\.(?:replace|assign)\()\s*+(?:encodeURI\(\s*+)?+"""
    r"""['"]([^'"\s]{1,500})['"]\s*+(?:\)\s*+)?+(?![+.])"""
)
_LINE_COMMENT = re.compile(r"""(?<![:\w'"=])//[^\n>]*+\Z""")
_LONGEST_LINE = 500
_MOST_REDIRECTS = 20
_SCRIPT = re.compile(r"<script[^<>]*+>\s*+(?:<\?xml[^<>]*+>\s*+)?\Z")
_SCRIPT_END = re.compile(r"\s*+</script>")


def scripted_next(html: str) -> str:
    """Return the relative URL of the next page of a list whose paging links a script writes, or "".

    Publishing systems of many Chinese media and authorities write ``createPageHTML(pages, current,
    name, extension)``, or the same after the ID of an element; then pages are counted from 1.

    >>> scripted_next('createPageHTML(25, 0, "index", "html");')
    'index_1.html'
    >>> scripted_next("createPageHTML('page_div', 3, 2, 'list', 'shtml', 55);")
    'list_3.shtml'
    >>> scripted_next('createPageHTML(25, 24, "index", "html");')
    ''
    """
    call = _PAGING.search(html) if "createPageHTML" in html else None
    if call is None:
        return ""
    following, pages = int(call[3]) + 1, int(call[2]) + bool(call[1])
    return f"{call[4]}_{following}.{call[5]}" if following < pages else ""


def scripted_redirect(html: str) -> str:
    """Return the URL, possibly relative, to which a script leads, or "".

    The script is that of a page without links, or of a link.

    >>> scripted_redirect("<script>window.location.href = './index.html';</script>")
    './index.html'
    >>> scripted_redirect("<script>location.replace('/s?q=' + words)</script>")
    ''
    """
    for move in islice(_REDIRECT.finditer(html), _MOST_REDIRECTS):
        if not _is_commented(html[: move.start()]):
            return move[1].replace("\\/", "/")
    return ""


def _is_commented(before: str) -> bool:
    """Return whether code is commented out in its script, or its script in the page.

    Args:
        before: The page up to the code.
    """
    page, _, code = before.lower().rpartition("<script")
    code = code.replace("*/*", "")  # any media type, not the begin of a comment
    is_out = page.rfind("<!--") > page.rfind("-->") or code.rfind("/*") > code.rfind("*/")
    return is_out or bool(_LINE_COMMENT.search(code[-_LONGEST_LINE:]))


def with_embedded_lists(html: str) -> str:
    """Return a page with the lists that it contains as ``<datastore>`` as part of its markup.

    Publishing systems send the entries of lists as CDATA in a script, or in XML of its own; a
    script of the page shows them. The last one often is a link to further entries. A script with
    code besides the list is not changed.

    >>> entry = "<record><![CDATA[<li><a href=/1>one</a>]]></record>"
    >>> with_embedded_lists(f"<ul><script><datastore>{entry}</datastore></script></ul>")
    '<ul><li><a href=/1>one</a></ul>'
    """
    before, *lists = html.split("<datastore>")
    pieces = [before]
    for one in lists:
        records, closed, after = one.partition("</datastore>")
        start, end = _SCRIPT.search(pieces[-1]), _SCRIPT_END.match(after)
        if not closed or (start is None) != (end is None):
            pieces.append(f"<datastore>{one}")
            continue
        if start and end:
            pieces[-1] = pieces[-1][: start.start()]
            after = after[end.end() :]
        pieces += [record.partition("]]>")[0] for record in records.split("<![CDATA[")[1:]]
        pieces.append(after)
    return "".join(pieces)
