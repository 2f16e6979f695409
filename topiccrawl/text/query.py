r"""Topics on the command line as queries: words with signs for their role.

| sign | meaning |
| --- | --- |
| ``+word``, ``(one \| other)`` | a page must have it; of alternatives, one of them |
| ``-word`` | a page must not have it |
| ``"two words"`` | a phrase, matched as a whole |
| ``word^2`` | a weight other than 1 |

A text without any of these signs is a sentence.

Its *units* are runs of adjacent words with no stop word, blank or punctuation between them:
``关于新能源汽车的最新报道`` has one, 新能源汽车. Each word of a unit is a term, and so is the unit
itself if it is short enough to be a compound: up to ``LONGEST_UNIT`` Chinese characters, or two
Latin words. Both are needed: with the words alone pages on solar power or on petrol cars would be
on topic; the compound alone would miss 新能源车企 and every page with 电动汽车 instead. With
both, a page with the compound scores on three dimensions instead of two, and one with only the
words still scores.

Text in quotation marks is one term, unchanged.

Connectives join concepts: ``X 在 Y 中的 …``, ``X 对 Y 的 …`` and "X in Y" ask for pages on both,
and each side is a *group* of alternatives, one of which a page must have. 与, 和, 或, 、, "and",
"or" and commas join alternatives. Nouns that only join (应用, "impact"; ``relations.txt``) are
terms and no concept. A sentence of one concept has no groups.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.text.normal import fold, has_han
from topiccrawl.text.tokens import Tokenizer, singular, split, stop_words, words_of_file

if TYPE_CHECKING:
    from collections.abc import Iterator


_PART = re.compile(
    r"(?P<sign>[+-]?)(?P<body>\([^()]+\)|\"[^\"]+\"|[^\s()\"^+-][^\s()\"^]*)"
    r"(?:\^(?P<weight>\d{1,2}(?:\.\d+)?))?"
)
_SIGNED = re.compile(r"(?:^|\s)[+-](?:[\"(]|[^\W\d])|\([^()]*\|[^()]*\)|[\w\")]\^\d")

LONGEST_UNIT = 8
"""Characters of a run of Chinese words that may be a compound."""

_LATIN_COMPOUND = 2
_OPENS = frozenset("在对")
"""Chinese connectives whose second concept ends at one of ``_ENDS``."""
_BOTH = _OPENS | {"in", "within"}
_ENDS = frozenset("中里内上的")
_QUOTED = re.compile(r"[“\"「『《]([^”\"」』》]+)[”\"」』》]")
_CHUNK = re.compile(r"[^\W_]+(?:[-&+.'’][^\W_]+)*[+#]*")


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


def parse_query(text: str, tokenizer: Tokenizer, most: int) -> Query:
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


def terms_of(text: str, tokenizer: Tokenizer) -> list[str]:
    """Return the folded terms in order of appearance, each once; [] if there are none.

    >>> from topiccrawl.text.tokens import tokenizer
    >>> terms_of("关于新能源汽车的最新报道", tokenizer())
    ['新能源', '汽车', '新能源汽车']
    >>> terms_of("news about electric vehicles in China", tokenizer())
    ['electric', 'vehicle', 'electric vehicle', 'china']
    """
    return list(dict.fromkeys(chain.from_iterable(_concepts(text, tokenizer))))


def groups_of(text: str, tokenizer: Tokenizer) -> tuple[tuple[str, ...], ...]:
    """Return the groups of terms, a page must have one of each; () for one concept.

    >>> from topiccrawl.text.tokens import tokenizer
    >>> groups_of("人工智能在医疗中的应用", tokenizer())
    (('人工智能',), ('医疗',))
    >>> groups_of("news about schools and teachers in Tulsa", tokenizer())
    (('school', 'teacher'), ('tulsa',))
    >>> groups_of("我想看关于足球和篮球的新闻", tokenizer())
    ()
    """
    relations = _relations()
    concepts = (
        tuple(dict.fromkeys(term for term in terms if term not in relations))
        for terms in _concepts(text, tokenizer)
    )
    groups = tuple(dict.fromkeys(filter(None, concepts)))
    return groups if len(groups) > 1 else ()


def _concepts(text: str, tokenizer: Tokenizer) -> Iterator[list[str]]:
    """Yield the terms of each part of a sentence, parted by connectives of two concepts."""
    folded = fold(text)
    quotations = (_CHUNK.findall(quoted) for quoted in _QUOTED.findall(folded))
    found = [" ".join(words) for words in quotations if words]
    for unit in _units(_QUOTED.sub(" , ", folded), tokenizer):
        if unit is None:
            yield found
            found = []
        else:
            found += _terms(unit)
    yield found


def _units(folded: str, tokenizer: Tokenizer) -> Iterator[list[str] | None]:
    """Yield runs of adjacent pieces; between Latin words a blank or hyphen does not end one.

    None is a connective between two concepts.
    """
    opened = False
    for clause in re.split(r"[^\w\s\-&+#.'’]+", folded):
        unit: list[str] = []
        for chunk in clause.split():
            pieces = tokenizer.cut(chunk) if has_han(chunk) else _CHUNK.findall(chunk)
            if unit and (has_han(chunk) or has_han(unit[-1])):
                yield unit
                unit = []
            for piece in pieces:
                if _says_nothing(piece):
                    yield unit
                    unit = []
                    if piece in _BOTH or (opened and piece in _ENDS):
                        yield None
                        opened = piece in _OPENS
                else:
                    unit.append(piece)
        yield unit


def _says_nothing(piece: str) -> bool:
    return not any(map(str.isalnum, piece)) or piece in stop_words() or piece in _frame()


def _terms(unit: list[str]) -> list[str]:
    words = [word for piece in unit for word in _words(piece)]
    if not any(map(has_han, unit)):
        return [*words, " ".join(words)] if len(words) == _LATIN_COMPOUND else words
    whole = "".join(unit)
    fragments = any(len(piece) == 1 and has_han(piece) for piece in unit)
    is_compound = len(words) > 1 or fragments
    return [*words, whole] if is_compound and len(whole) <= LONGEST_UNIT else words


def _words(piece: str) -> list[str]:
    """Return the words of a piece that can be terms: AT&T and C++ whole, no numbers."""
    found = [word for word in split(piece) if not word.isdecimal()]
    signed = not piece.isalnum() and any(map(str.isalpha, piece))
    return [piece] if signed and not found else found


@cache
def _frame() -> frozenset[str]:
    """Return words of a request that are not part of its topic (``frame.txt``)."""
    return frozenset(words_of_file("stopwords/frame.txt"))


@cache
def _relations() -> frozenset[str]:
    """Return nouns that join concepts (``relations.txt``)."""
    return frozenset(map(singular, words_of_file("stopwords/relations.txt")))
