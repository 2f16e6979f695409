"""Parsing of damaged or untrusted XML."""

from __future__ import annotations

import re

from lxml import etree

MAX_TEXT = 20_000
"""Most characters read from an element's text; entries with full articles have thousands."""

_TAG = re.compile(r"<[^<>]*>")


def xml_root(data: bytes) -> etree._Element | None:
    r"""Parse the readable part of a document, or return None; external entities are not fetched.

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
    """Return an element's name in lower case, without its namespace."""
    return str(element.tag).rpartition("}")[2].lower()  # the tag of a comment is a function


def text_of(element: etree._Element) -> str:
    """Return the first ``MAX_TEXT`` characters of an element's text, without escaped markup.

    >>> root = xml_root(b"<a>1 &lt;b&gt;2&lt;/b&gt;<c>3</c></a>")
    >>> root is not None and text_of(root)
    '1 2 3'
    """
    parts, remaining = [], MAX_TEXT
    for part in map(str, element.itertext()):
        parts.append(part[:remaining])
        remaining -= len(part)
        if remaining <= 0:
            break
    return " ".join(_TAG.sub(" ", "".join(parts)).split())
