r"""A topic typed on the command line as a query: words with signs that say what each is for.

| sign | meaning |
| --- | --- |
| ``+word``, ``(one \| other)`` | must stand on a page; of alternatives, one of them |
| ``-word`` | must not stand on it |
| ``"two words"`` | a phrase, found as it stands |
| ``word^2`` | a weight other than 1 |

A text without any of these signs is a sentence (see ``text.sentence``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.text.normal import fold
from topiccrawl.text.sentence import groups_of, terms_of

if TYPE_CHECKING:
    from topiccrawl.text.tokens import Tokenizer

_PART = re.compile(
    r"(?P<sign>[+-]?)(?P<body>\([^()]+\)|\"[^\"]+\"|[^\s()\"^+-][^\s()\"^]*)"
    r"(?:\^(?P<weight>\d{1,2}(?:\.\d+)?))?"
)
_SIGNED = re.compile(r"(?:^|\s)[+-](?:[\"(]|[^\W\d])|\([^()]*\|[^()]*\)|[\w\")]\^\d")


class Query(NamedTuple):
    """A topic as it was asked for.

    Attributes:
        terms: Folded words and phrases to weights.
        groups: Alternatives, each of which a page must meet by one of its words; all are terms.
        must_not: Words that must not stand on a page.
    """

    terms: dict[str, float]
    groups: tuple[tuple[str, ...], ...] = ()
    must_not: tuple[str, ...] = ()


def read_query(text: str) -> Query | None:
    """Return the query that a text is; None for a text without signs.

    >>> read_query('(人工智能 | AI) +医疗 -招聘 "deep learning"^2')
    Query(terms={'人工智能': 1.0, 'ai': 1.0, '医疗': 1.0, 'deep learning': 2.0}, \
groups=(('人工智能', 'ai'), ('医疗',)), must_not=('招聘',))
    >>> read_query("electric vehicles in China") is None
    True
    """
    folded = fold(text)
    if not _SIGNED.search(folded):
        return None
    terms: dict[str, float] = {}
    groups: list[tuple[str, ...]] = []
    against: dict[str, None] = {}
    for part in _PART.finditer(folded):
        words = _alternatives(part["body"])
        if part["sign"] == "-":
            against.update(dict.fromkeys(words))
            continue
        terms.update(dict.fromkeys(words, float(part["weight"] or 1)))
        if words and (part["sign"] == "+" or part["body"].startswith("(")):
            groups.append(words)
    return Query(terms, tuple(groups), tuple(against))


def asked(text: str, tokenizer: Tokenizer, most: int) -> Query:
    """Return what a text asks for: a query where it has signs, else a sentence.

    Args:
        text: As typed.
        tokenizer: Cuts the sentence.
        most: Words of a sentence that become terms; the first ones.
    """
    if query := read_query(text):
        return query
    terms = terms_of(text, tokenizer)[:most]
    groups = (tuple(w for w in g if w in terms) for g in groups_of(text, tokenizer))
    return Query(dict.fromkeys(terms, 1.0), tuple(filter(None, groups)))


def _alternatives(body: str) -> tuple[str, ...]:
    """The words of one part; those of brackets are parted by bars."""
    parts = body[1:-1].split("|") if body.startswith("(") else [body]
    words = (part.strip(' "') for part in parts)
    return tuple(dict.fromkeys(word for word in words if any(map(str.isalnum, word))))
