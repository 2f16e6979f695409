"""XML as the web has it: damaged, and from strangers."""

from __future__ import annotations

from lxml import etree


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
