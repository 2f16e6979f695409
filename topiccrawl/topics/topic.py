"""Topics, given as words, a sentence or a topic file, and validated before the crawl starts."""

from __future__ import annotations

from datetime import date  # noqa: TC003  (pydantic reads it at run time)
from difflib import get_close_matches
from functools import cache
from importlib import resources
from itertools import chain
from os import PathLike, fspath
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, ValidationError, field_validator, model_validator

from topiccrawl.errors import FieldError, TopicError, expect
from topiccrawl.messages import message
from topiccrawl.text.normal import fold, has_han
from topiccrawl.text.query import Query, parse_query
from topiccrawl.text.tokens import shared_tokenizer
from topiccrawl.topics.fields import (
    MAX_NAME_LENGTH,
    Budget,
    Hosts,
    NamedPart,
    Patterns,
    Seeds,
    Thresholds,
)
from topiccrawl.userfiles import FileKind, describe_errors, list_files, load, read_model, read_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.resources.abc import Traversable


PACKAGE = resources.files("topiccrawl") / "topics"  # no subpackage, since eggs are zipped
FOLDER = Path("topics")
"""Folder of the user's own topic files."""
MOST_TERMS = 50
"""Most words of a sentence that become terms; topic files may have more."""
_PORTALS = "portals.toml"
_NO_WORDS = (".json", ".toml", ".yaml", ".yml")
"""Endings of arguments that are meant as files, in lower case."""
Weight = Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]
Example = Annotated[str, Field(min_length=1, max_length=20_000)]
Word = Annotated[str, Field(min_length=1, max_length=100)]


class Topic(NamedPart):
    """A topic: weighted terms and options of its crawl [S2, S3].

    Attributes:
        name: Name in storage and reports.
        terms: Term to weight, (0, 100]; a term may be a word or a phrase.
        synonyms: Term to words that count as this term.
        negative: Word to weight that is subtracted from the score.
        all_of: Groups of alternative words; a page on topic has at least one word of each group.
            The words are terms, with weight 1 unless ``terms`` has another weight.
        must: Required words; each is a group with one word.
        min_terms: Fewest different terms of a page on topic; a synonym counts as its term.
        must_not: Words that the page's own text must not contain.
        examples: URLs or texts of pages on topic. Without terms, words are derived from them.
        counterexamples: URLs or texts of pages off topic.
        seeds: Canonical seed URLs; empty for the default portals.
        allowed_hosts: Hosts or domains that may be crawled; empty for all.
        denied_hosts: Hosts or domains that must not be crawled.
        include: Patterns of URLs that may be requested (``links.urlrules``); empty for all.
        exclude: Patterns of URLs that must not be requested.
        languages: ISO 639-1 codes, which select the default portals.
        limits: Limits of the crawl.
        thresholds: Thresholds of the topic.
        published_since: First day of publication; older articles are not stored. None for any.
        published_until: Last day of publication; newer articles are not stored. Articles without a
            date are stored.
        retain_days: Days after the last fetch until an article is removed, at the start of each
            crawl; None to keep articles.
    """

    terms: dict[Word, Weight]
    synonyms: dict[Word, tuple[Word, ...]] = Field(default={})
    negative: dict[Word, Weight] = Field(default={})
    all_of: tuple[Annotated[tuple[Word, ...], Field(min_length=1)], ...] = ()
    must: tuple[Word, ...] = ()
    min_terms: Annotated[int, Field(ge=1)] = 1
    must_not: tuple[Word, ...] = ()
    examples: tuple[Example, ...] = ()
    counterexamples: tuple[Example, ...] = ()
    seeds: Seeds = ()
    allowed_hosts: Hosts = ()
    denied_hosts: Hosts = ()
    include: Patterns = ()
    exclude: Patterns = ()
    languages: tuple[Annotated[str, Field(pattern="^[a-z]{2}$")], ...] = ()
    limits: Budget = Budget()
    thresholds: Thresholds = Thresholds()
    published_since: date | None = None
    published_until: date | None = None
    retain_days: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _terms_of_groups(cls, values: Any) -> Any:  # noqa: ANN401  (a file may hold anything)
        if not isinstance(values, dict):
            return values
        if values.get("examples"):
            values = {"terms": {}, **values}
        needed = _texts_in((values.get("all_of"), values.get("must")))
        terms = cls._list_of_terms(values.get("terms", {}))
        if not needed or not isinstance(terms, dict):
            return values
        known = {fold(str(text)) for text in (*terms, *_texts_in(values.get("synonyms")))}
        new = {fold(word): word for word in needed if fold(word) not in known}
        return {**values, "terms": {**terms, **dict.fromkeys(new.values(), 1.0)}}

    @field_validator("terms", mode="before")
    @classmethod
    def _list_of_terms(cls, value: Any) -> Any:  # noqa: ANN401  (a file may hold anything)
        listed = isinstance(value, list) and all(isinstance(term, str) for term in value)
        return dict.fromkeys(value, 1.0) if listed else value

    @field_validator("terms", "negative")
    @classmethod
    def _words_with_letters(cls, weights: dict[str, float]) -> dict[str, float]:
        known: dict[str, str] = {}
        for term in weights:
            folded = fold(term)
            if not any(map(str.isalnum, folded)):
                raise FieldError("{term!r} contains no letter or number: remove it", term=term)
            if other := known.get(folded):
                raise FieldError(
                    "{term!r} is the same as {other!r}: keep one of them", term=term, other=other
                )
            known[folded] = term
        return weights

    @model_validator(mode="after")
    def _check_terms(self) -> Topic:
        for term in self.synonyms:
            if term not in self.terms:
                hint: TopicError | str = message("add it to terms")
                if near := get_close_matches(term, self.terms, 1, 0.5):
                    hint = TopicError("did you mean {near!r}?", near=near[0])
                raise FieldError(
                    "{term!r} has synonyms but is no term: {hint}", term=term, hint=hint
                )
        if not self.terms and not self.examples:
            raise FieldError("field terms is {}: write words, or examples of pages")
        if self.terms and self.min_terms > len(self.terms):
            raise FieldError(
                "field min_terms is {least}: give a number up to {found}, the number of terms",
                least=self.min_terms,
                found=len(self.terms),
            )
        return self

    @model_validator(mode="after")
    def _words_once(self) -> Topic:
        synonyms = _texts_in(self.synonyms)
        words = (*self.terms, *synonyms)
        for text, ours, others in (
            (message("{word!r} is both a term and a synonym: remove one"), synonyms, self.terms),
            (message("{word!r} is both a term and in negative: remove one"), words, self.negative),
            (message("{word!r} is both a term and in must_not: remove one"), words, self.must_not),
        ):
            against = set(map(fold, others))
            for word in ours:
                if fold(word) in against:
                    raise FieldError(text, word=word)
        return self

    @property
    def folded(self) -> frozenset[str]:
        """Folded terms, as used in verdicts."""
        return frozenset(map(fold, self.terms))

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of alternative words that a page must match, including ``must``."""
        return (*self.all_of, *((word,) for word in self.must))

    def wants(self, published: str) -> bool:
        """Return whether an article with this date (ISO 8601 or "") is to be stored.

        >>> topic = Topic(name="t", terms={"t": 1}, published_since=date(2026, 1, 31))
        >>> topic.wants("2026-01-31T00:10:00+08:00"), topic.wants("2026-01-30"), topic.wants("")
        (True, False, True)
        """
        day = published[:10]
        early = self.published_since is not None and day < self.published_since.isoformat()
        late = self.published_until is not None and day > self.published_until.isoformat()
        return not day or not (early or late)

    @property
    def version(self) -> int:
        """Number below 2**24 that identifies the fields used for scoring."""
        fields = {"terms", "synonyms", "negative", "thresholds"}
        fields |= {name for name in ("all_of", "must", "must_not") if getattr(self, name)}
        fields |= {"min_terms"} if self.min_terms > 1 else set()
        return self.version_of(fields)


def _texts_in(value: Any) -> list[str]:  # noqa: ANN401  (a file may hold anything)
    """Return the strings in a nested list or table, in order."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    nested = isinstance(value, (list, tuple, dict))
    return [text for part in parts for text in _texts_in(part)] if nested else []


def resolve(argument: str | PathLike[str], folder: Path = FOLDER) -> Topic:
    """Resolve a user's argument to a topic.

    The argument is a path that ends in ``.toml``; or the name of a topic in ``folder`` or in the
    package (file name or ``name`` field: 足球 is ``football.toml``); or words or a sentence (see
    ``from_words``).

    Raises:
        TopicError: The topic is invalid; the message has file, field, value and remedy.

    >>> list(resolve("足球 中超").terms)
    ['足球', '中超']
    """
    expect(
        argument, (str, PathLike), "a topic is text or a path", "give words, a name or a topic file"
    )
    text = fspath(argument).strip()
    if text.endswith(".toml"):
        return read(Path(text))
    if text.lower().endswith(_NO_WORDS):
        raise TopicError(
            "{text!r} would be read as words: a topic file is TOML, and its name ends in .toml",
            text=text,
        )
    if (where := named_file(text, folder)) is not None:
        return read(where)
    if "/" in text and isfile(f"{text}.toml"):  # noqa: PTH113 - may be too long for a Path
        raise TopicError(
            "{text!r} would be read as words: write {text}.toml for the file", text=text
        )
    return from_words(text)


def named_file(name: str, folder: Path = FOLDER) -> Path | Traversable | None:
    """Return the topic file with this name (see ``resolve``), or None: it is a path, or words."""
    text = name.strip()
    found = list_files(folder, _bundled()) if text else ()
    names = [(where, (file, read_name(where, _KIND) or "")) for file, where in found]
    exact = (where for where, known in names if text in known)
    folded = (where for where, known in names if fold(text) in map(fold, known))
    return next(chain(exact, folded), None)  # folded: 新能源汽車, full-width letters, Sports


def from_words(text: str) -> Topic:
    """Create a topic from words or a natural-language sentence; all weights are 1 [S3 step 1].

    Stop words are left out. A short compound that is not in the dictionary (新能源汽车) becomes a
    term in addition to its words, so pages with the compound score higher than pages with only its
    words. A sentence with two concepts requires both, and operators are supported (see
    ``text.query``). Synonyms are taken from the bundled topics.

    Raises:
        TopicError: The text has no word that can be a term.

    >>> from_words("新能源汽车").terms
    {'新能源': 1.0, '汽车': 1.0, '新能源汽车': 1.0}
    >>> list(from_words("关于人工智能在医疗中的应用").terms)
    ['人工智能', '医疗', '应用']
    >>> from_words("人工智能在医疗中的应用").groups
    (('人工智能',), ('医疗',))
    """
    query = parse_query(text, shared_tokenizer(), MOST_TERMS)
    if not query.terms:
        raise TopicError(
            "topic {text!r} has no word that can be a search term: give a noun or a topic file",
            text=text,
        )
    try:
        return Topic(
            name=" ".join(text.split())[:MAX_NAME_LENGTH].rstrip(),
            terms=query.terms,
            synonyms=_synonyms(query),
            all_of=query.groups,
            must_not=query.must_not,
            min_terms=query.min_terms,
        )
    except ValidationError as error:
        found = describe_errors(error, _KIND)
        places = "; ".join(map("{{{}}}".format, found))
        reasons = TopicError(places, **found)
        raise TopicError("topic {text!r}: {reasons}", text=text, reasons=reasons) from error


def from_examples(examples: Sequence[str]) -> Topic:
    """Create a topic from example URLs or texts, at least one; the crawl derives its words.

    >>> from_examples(["https://a.test/story"]).name
    'like https://a.test/story'
    """
    name = f"like {examples[0]}"[:MAX_NAME_LENGTH].rstrip()
    return Topic(name=name, terms={}, examples=tuple(examples))


def _synonyms(query: Query) -> dict[str, tuple[str, ...]]:
    """Return synonyms of a query's terms in bundled topics, without words of the query."""
    query_words = {*query.terms, *query.must_not}
    found = {
        term: tuple(w for w in _bundled_synonyms().get(term, ()) if fold(w) not in query_words)
        for term in query.terms
    }
    return {term: words for term, words in found.items() if words}


@cache
def _bundled_synonyms() -> dict[str, tuple[str, ...]]:
    """Return the synonyms in all bundled topics, by folded term."""
    found: dict[str, tuple[str, ...]] = {}
    for place in sorted(_bundled(), key=lambda one: one.name):
        for term, words in read(place).synonyms.items():
            found[fold(term)] = tuple(dict.fromkeys((*found.get(fold(term), ()), *words)))
    return found


def read(path: Path | Traversable) -> Topic:
    """Read a topic file.

    Raises:
        TopicError: The file is invalid; the message lists all errors with field, value and remedy.
    """
    return read_model(path, _KIND, name=path.name.removesuffix(".toml"))


def default_seeds(topic: Topic) -> tuple[str, ...]:
    """Return the default portals for a topic's languages, or for the script of its terms.

    >>> default_seeds(Topic(name="t", terms={"football": 1}))[0].startswith("https://")
    True
    """
    portals = load(PACKAGE / _PORTALS, _KIND)
    chinese = any(map(has_han, topic.terms))
    languages = topic.languages or (("zh",) if chinese else ("en",))
    return tuple(url for language in languages for url in portals.get(language, ()))


def available(folder: Path = FOLDER) -> Iterator[tuple[str, str, str]]:
    """Yield the topic files that ``resolve`` finds by name: file name, ``name`` or "", path."""
    for name, where in list_files(folder, _bundled()):
        yield name, read_name(where, _KIND) or "", str(where)


def _bundled() -> list[Traversable]:
    return [f for f in PACKAGE.iterdir() if f.name.endswith(".toml") and f.name != _PORTALS]


_KIND = FileKind(
    error=TopicError,
    called=message("topic file"),
    listing=message("`topiccrawl topics list` shows those that are known by name"),
    model=Topic,
    parts={"limits": Budget, "thresholds": Thresholds},
    numbers={
        "terms": message("give a number above 0, at most 100"),
        "negative": message("give a number above 0, at most 100"),
        "retain_days": message("give a whole number, 1 or more"),
        "min_terms": message("give a whole number, 1 or more"),
        "limits": message("give a whole number, 0 or more"),
    },
    remedies={
        "string_pattern_mismatch": message("give a language as two letters: zh, en"),
        "dict_type": message('write a table, one line each: "term" = ...'),
        "model_type": message("write a table of its own: [limits] or [thresholds]"),
    },
)
