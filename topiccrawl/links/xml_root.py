"""XML from the web: damaged and untrusted."""

from __future__ import annotations

import re

from lxml import etree

MOST_TEXT = 20_000
"""Characters read of an element's text; a feed with whole articles has some thousands."""

_TAG = re.compile(r"<[^<>]*>")


def xml_root(data: bytes) -> etree._Element | None:
    r"""Return the readable part of a document, or None; external entities are not fetched.

    >>> [root.tag for root in map(xml_root, (b"<a><b>", b"\n<a/>")) if root is not None]
    ['a', 'a']
    >>> [xml_root(data) for data in (b"", b" ", b"\0", b"no markup")]
    [None, None, None, None]
    """
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    try:
        root: etree._Element | None = etree.fromstring(data.strip(), parser)
    except etree.XMLSyntaxError:  # no root element found
        return None
    return root


def name_of(element: etree._Element) -> str:
    """Return an element's name without its name space, in lower case."""
    return str(element.tag).rpartition("}")[2].lower()  # a comment's tag is a function, no name


def text_of(element: etree._Element) -> str:
    """Return the first ``MOST_TEXT`` characters of an element's text, without escaped markup.

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
