r"""Parsing of topics on the command line: queries with operators, or sentences.

| operator | meaning |
| --- | --- |
| ``+word``, ``(one \| other)`` | required word; at least one of the alternatives |
| ``-word``, ``NOT word`` | excluded word |
| ``"two words"`` | a phrase, matched as a whole |
| ``word^2`` | a weight other than 1 |

Parts are separated by blanks or commas (，、；). A text without these operators is a sentence.

Its *units* are runs of adjacent words with no stop word, blank or punctuation between them:
``关于新能源汽车的最新报道`` has one, 新能源汽车. Each word of a unit is a term. The unit itself is
a term if it is short enough to be a compound: up to ``LONGEST_UNIT`` Chinese characters, or two
Latin words. Both are needed. With the words only, pages on solar power or petrol cars would be on
topic. With the compound only, pages with 新能源车企 or 电动汽车 would be missed. With both, a page
with the compound scores on three dimensions instead of two, and a page with only the words still
scores.

Adjacent Chinese words are one subject (玻利维亚总统辞职), so a page needs half of a unit's words.
Units are alternatives (足球、篮球), so half of the words of the shortest one suffice.

Nouns for news (``nouns.txt``) are no words of a unit that they end (玻利维亚总统新闻), but they are
words of it if another word follows (信息公开).

Text in quotation marks is one term, unchanged.

Subjects after 除了…以外, 不要, 不包括, 而不是, "except" and the like are excluded.

Connectives join concepts: ``X 在 Y 中的 …``, ``X 对 Y 的 …`` and "X in Y" require both. Each side
is a *group* of alternatives, at least one of which a page must have. 与, 和, 或, 、, "and", "or"
and commas join alternatives. Nouns that only express relations (应用, "impact"; ``relations.txt``)
are terms but form no concept. A sentence with one concept has no groups.
"""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.text.normal import fold, has_han
from topiccrawl.text.tokens import Tokenizer, singular, split, stop_words, words_of_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator


_PART = re.compile(
    r"(?P<sign>[+-]?)(?P<body>\([^()]+\)|\"[^\"]+\"|[^\s()\"^,;、+-][^\s()\"^,;、]*)"
    r"(?:\^(?P<weight>\d+(?:\.\d+)?))?"
)
_HAS_OPERATOR = re.compile(r"(?:^|[\s,;、])[+-](?:[\"(]|[^\W\d])|\([^()]*\|[^()]*\)|[\w\")]\^\d")
_BETWEEN_ALTERNATIVES = re.compile("[|,;、]")

LONGEST_UNIT = 8
"""Characters of a run of Chinese words that may be a compound."""

_LATIN_COMPOUND = 2
_OPENING = frozenset("在对")
"""Chinese connectives whose second concept ends at one of ``_CLOSING``."""
_CONNECTIVES = _OPENING | {"in", "within"}
_CLOSING = frozenset("中里内上的")
_QUOTED = re.compile(r"[“\"「『《]([^”\"」』》]+)[”\"」』》]")
_NOT = re.compile(r"(?<=\s)NOT\s+(?=[\w\"“「『(])")
_BUT = re.compile(
    r"除了([^,;。]+?)(?:[以之]外|(?<![国海户室境课意野])外(?=[的,。\s]|$)|(?=[,\s]*其[他它余]|[,。\s]*$))"
    r"(?!的?[\s,]*我?[还也另])"
    r"|(?:(?:(?:^|(?<=[\s,;、。]))[我请]?|但我?)不(?:想?要|想?看|包[括含])|而(?:不是|非(?!洲)))\s*"
    r"((?:[^,;、。\s]|、(?![我但只要想还也]))+)"
    r"|\b(?:except|excluding|but not)\s+([^.;]+)"
)
"""Part of a sentence that excludes subjects; 除了足球以外，还… ("besides") includes them."""
_OF = re.compile(r"的[^,;、和与或及\s]*")
_CHUNK = re.compile(r"[^\W_]+(?:[-&+.'’][^\W_]+)*[+#]*")


class Query(NamedTuple):
    """A parsed topic query.

    Attributes:
        terms: Folded words and phrases to weights.
        groups: Groups of alternative terms; a page must have at least one term of each group.
        must_not: Words that a page must not have.
        min_terms: Fewest different terms of a page.
    """

    terms: dict[str, float]
    groups: tuple[tuple[str, ...], ...] = ()
    must_not: tuple[str, ...] = ()
    min_terms: int = 1


def read_query(text: str) -> Query | None:
    """Parse a query with operators; return None for a text without operators.

    >>> read_query('(人工智能 | AI) +医疗 -招聘 "deep learning"^2')[:3]
    ({'人工智能': 1.0, 'ai': 1.0, '医疗': 1.0, 'deep learning': 2.0}, \
(('人工智能', 'ai'), ('医疗',)), ('招聘',))
    >>> read_query("electric vehicles in China") is None
    True
    """
    titled = text.isupper() and not has_han(text)  # THINGS NOT TO DO
    signed = text if titled else _NOT.sub("-", text)
    folded = _QUOTED.sub(r'"\1"', fold(signed))
    if not _HAS_OPERATOR.search(folded):
        return None
    terms: dict[str, float] = {}
    groups: list[tuple[str, ...]] = []
    excluded: dict[str, None] = {}
    for part in _PART.finditer(folded):
        words = _alternatives(part["body"])
        if part["sign"] == "-":
            excluded.update(dict.fromkeys(words))
            continue
        terms.update(dict.fromkeys(words, float(part["weight"] or 1)))
        if words and (part["sign"] == "+" or part["body"].startswith("(")):
            groups.append(words)
    return Query(terms, tuple(groups), tuple(excluded))


def parse_query(text: str, tokenizer: Tokenizer, most: int) -> Query:
    """Parse a text as a query if it has operators, else as a sentence.

    Args:
        text: Text as typed.
        tokenizer: Tokenizer for sentences.
        most: Maximum number of terms of a sentence; further terms are dropped.

    >>> from topiccrawl.text.tokens import tokenizer
    >>> list(parse_query("关于新能源汽车的最新报道", tokenizer(), 9).terms)
    ['新能源', '汽车', '新能源汽车']
    >>> list(parse_query("news about electric vehicles in China", tokenizer(), 9).terms)
    ['electric', 'vehicle', 'electric vehicle', 'china']
    >>> list(parse_query("A股市场 IT行业", tokenizer(), 9).terms)
    ['a股', '市场', 'a股市场', '行业', 'it行业']
    >>> parse_query("人工智能在医疗中的应用", tokenizer(), 9).groups
    (('人工智能',), ('医疗',))
    >>> parse_query("news about schools and teachers in Tulsa", tokenizer(), 9).groups
    (('school', 'teacher'), ('tulsa',))
    >>> parse_query("我想看关于足球和篮球的新闻", tokenizer(), 9).groups
    ()
    >>> parse_query("玻利维亚总统辞职", tokenizer(), 9).min_terms
    2
    >>> parse_query("除了足球以外的体育，不要娱乐", tokenizer(), 9)
    Query(terms={'体育': 1.0}, groups=(), must_not=('足球', '娱乐'), min_terms=1)
    """
    if query := read_query(text):
        return query
    folded = fold(text)
    wanted = _sentence(_BUT.sub(" , ", folded), tokenizer, most)
    if not wanted.terms:  # 不要 may begin a headline
        return _sentence(folded, tokenizer, most)
    refused = (next(filter(None, found.groups())) for found in _BUT.finditer(folded))
    names = chain.from_iterable(_names(phrase, tokenizer) for phrase in refused)
    return wanted._replace(must_not=tuple(dict.fromkeys(n for n in names if n not in wanted.terms)))


def _names(phrase: str, tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the subjects of a phrase: 苹果 for 苹果的产品, and no single Chinese characters."""
    for unit in _units(_OF.sub("", phrase), tokenizer):
        name = ("" if any(map(has_han, unit or ())) else " ").join(unit or ())
        if len(name) > has_han(name):
            yield name


def _sentence(folded: str, tokenizer: Tokenizer, most: int) -> Query:
    """Parse a sentence that excludes nothing."""
    concepts = list(_concepts(folded, tokenizer))
    terms = dict.fromkeys(list(dict.fromkeys(chain.from_iterable(concepts)))[:most], 1.0)
    needed = (dict.fromkeys(t for t in concept if t not in _relations()) for concept in concepts)
    groups = tuple(dict.fromkeys(tuple(group) for group in needed if group))
    least = _min_terms(folded, terms, tokenizer)
    if len(groups) <= 1:
        return Query(terms, min_terms=least)
    known = (tuple(term for term in group if term in terms) for group in groups)
    return Query(terms, tuple(filter(None, known)), min_terms=least)


def _min_terms(folded: str, terms: Collection[str], tokenizer: Tokenizer) -> int:
    """Return half of the words of the unit with the fewest; 1 if a unit is not Chinese."""
    units = [unit for unit in _units(_QUOTED.sub(" , ", folded), tokenizer) if unit]
    words = [{w for piece in unit for w in _words(piece) if w in terms} for unit in units]
    if _QUOTED.search(folded) or not all(any(map(has_han, unit)) for unit in units):
        return 1
    return min((math.ceil(len(found) / 2) for found in words if found), default=1)


def _alternatives(body: str) -> tuple[str, ...]:
    """Return the words of one part; bars or commas separate alternatives in parentheses."""
    parts = _BETWEEN_ALTERNATIVES.split(body[1:-1]) if body.startswith("(") else [body]
    words = (part.strip(' "') for part in parts)
    return tuple(dict.fromkeys(word for word in words if any(map(str.isalnum, word))))


def _concepts(folded: str, tokenizer: Tokenizer) -> Iterator[list[str]]:
    """Yield the terms of each concept of a sentence."""
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
    """Yield runs of adjacent pieces without nouns for news at their end.

    Blanks and hyphens do not separate Latin words. None marks a connective between two concepts.
    """
    for run in _runs(folded, tokenizer):
        while run and run[-1] in _nouns():
            run.pop()
        yield run


def _runs(folded: str, tokenizer: Tokenizer) -> Iterator[list[str] | None]:
    """Yield the units with all of their nouns."""
    opened = False
    for clause in re.split(r"[^\w\s\-&+#.'’]+", folded):
        unit: list[str] = []
        for chunk in clause.split():
            chinese = has_han(chunk)
            pieces = _CHUNK.findall(chunk)
            if chinese:
                pieces = _joined(tokenizer.cut(chunk), leads=folded.startswith(chunk))
            if unit and (has_han(chunk) or has_han(unit[-1])):
                yield unit
                unit = []
            for piece in pieces:
                named = chinese and piece.isascii() and piece.isalnum()  # the IT of IT行业
                if piece in _CONNECTIVES or (not named and _is_ignored(piece)):
                    yield unit
                    unit = []
                    if piece in _CONNECTIVES or (opened and piece in _CLOSING):
                        yield None
                        opened = piece in _OPENING
                else:
                    unit.append(piece)
        yield unit


def _joined(pieces: Iterable[str], *, leads: bool) -> list[str]:
    """Join single Latin letters with the Chinese word that follows: A股, K线图.

    Words of several characters are joined only with the first letter of a text (``leads``) or with
    one after a stop word: the C of 维生素C缺乏 belongs to the word before.
    """
    found: list[str] = []
    for piece in pieces:
        letter = found[-1] if found else ""
        before = found[-2] if len(found) > 1 else ""
        is_first = has_han(before) and _is_ignored(before) if before else leads
        is_letter = len(letter) == 1 and letter.isascii() and letter.isalpha()
        joins = is_letter and (is_first or len(piece) == 1)
        if joins and has_han(piece) and not _is_ignored(piece):
            found[-1] += piece
        else:
            found.append(piece)
    return found


def _is_ignored(piece: str) -> bool:
    return not any(map(str.isalnum, piece)) or piece in stop_words() or piece in _request_words()


def _terms(unit: list[str]) -> list[str]:
    words = [word for piece in unit for word in _words(piece)]
    if not any(map(has_han, unit)):
        return [*words, " ".join(words)] if len(words) == _LATIN_COMPOUND else words
    whole = "".join(unit)
    fragments = not all(map(split, unit))  # single characters, and the IT of IT行业
    is_compound = len(words) > 1 or fragments
    return [*words, whole] if is_compound and len(whole) <= LONGEST_UNIT else words


def _words(piece: str) -> list[str]:
    """Return the words of a piece that can be terms, without numbers; AT&T and C++ are kept."""
    found = [word for word in split(piece) if not word.isdecimal()]
    signed = not piece.isalnum() and any(map(str.isalpha, piece))
    return [piece] if signed and not found else found


@cache
def _request_words() -> frozenset[str]:
    """Return words of a request that do not belong to its topic (``frame.txt``)."""
    return frozenset(words_of_file("stopwords/frame.txt"))


@cache
def _nouns() -> frozenset[str]:
    """Return nouns for news, which belong to a topic only before another word (``nouns.txt``)."""
    return frozenset(words_of_file("stopwords/nouns.txt"))


@cache
def _relations() -> frozenset[str]:
    """Return nouns that express relations of concepts (``relations.txt``)."""
    return frozenset(map(singular, words_of_file("stopwords/relations.txt")))
