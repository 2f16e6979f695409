"""XML as the web has it: damaged, and from strangers."""

from __future__ import annotations

import re

from lxml import etree

MOST_TEXT = 20_000
"""Characters looked at of an element's text; a feed with whole articles has some thousands."""

_TAG = re.compile(r"<[^<>]*>")


def xml_root(data: bytes) -> etree._Element | None:
    r"""Return what can be read of a document, or None; nothing it names is fetched.

    >>> [root.tag for root in map(xml_root, (b"<a><b>", b"\n<a/>")) if root is not None]
    ['a', 'a']
    >>> [xml_root(data) for data in (b"", b" ", b"\0", b"no markup")]
    [None, None, None, None]
    """
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    try:
        root: etree._Element | None = etree.fromstring(data.strip(), parser)
    except etree.XMLSyntaxError:  # where not even a beginning is found
        return None
    return root


def name_of(element: etree._Element) -> str:
    """An element's name without its name space, in lower case."""
    return str(element.tag).rpartition("}")[2].lower()  # a comment's is a function, and no name


def text_of(element: etree._Element) -> str:
    """The first text of an element, without the markup that it may hold itself.

    >>> root = xml_root(b"<a>1 &lt;b&gt;2&lt;/b&gt;<c>3</c></a>")
    >>> root is not None and text_of(root)
    '1 2 3'
    """
    parts, room = [], MOST_TEXT
    for part in map(str, element.itertext()):
        parts.append(part[:room])
        room -= len(part)
        if room <= 0:
            break
    return " ".join(_TAG.sub(" ", "".join(parts)).split())
