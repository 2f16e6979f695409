r"""Topics on the command line as queries: words with signs for their role.

| sign | meaning |
| --- | --- |
| ``+word``, ``(one \| other)`` | a page must have it; of alternatives, one of them |
| ``-word`` | a page must not have it |
| ``"two words"`` | a phrase, matched as a whole |
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
    """A parsed topic query.

    Attributes:
        terms: Folded words and phrases to weights.
        groups: Groups of alternatives, of each of which a page must have one; all are terms.
        must_not: Words that a page must not have.
    """

    terms: dict[str, float]
    groups: tuple[tuple[str, ...], ...] = ()
    must_not: tuple[str, ...] = ()


def read_query(text: str) -> Query | None:
    """Parse a query; return None for a text without signs.

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
    """Parse a text as a query if it has signs, else as a sentence.

    Args:
        text: As typed.
        tokenizer: Tokenizer of sentences.
        most: Most words of a sentence that become terms; the first ones.
    """
    if query := read_query(text):
        return query
    terms = terms_of(text, tokenizer)[:most]
    groups = (tuple(w for w in g if w in terms) for g in groups_of(text, tokenizer))
    return Query(dict.fromkeys(terms, 1.0), tuple(filter(None, groups)))


def _alternatives(body: str) -> tuple[str, ...]:
    """Return the words of one part; those in brackets are separated by bars."""
    parts = body[1:-1].split("|") if body.startswith("(") else [body]
    words = (part.strip(' "') for part in parts)
    return tuple(dict.fromkeys(word for word in words if any(map(str.isalnum, word))))
