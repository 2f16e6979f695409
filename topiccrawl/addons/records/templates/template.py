"""A template: what to search for, which links to follow, which values to take [S1; methods 7].

A file has three levels, each with synonyms: *search keywords* go to a search engine, *filter
keywords*, in layers, choose links by what their anchors contain, *crawl keywords* are the labels of
the values that make a record. ``[S1]`` writes ``联系我们(联系)``; here that is
``"联系我们" = ["联系"]``.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from topiccrawl.errors import FieldError, TemplateError
from topiccrawl.messages import message
from topiccrawl.text.normal import fold
from topiccrawl.topics.fields import Hosts, NamedPart, Part, Seeds
from topiccrawl.userfiles import FileKind, list_files, read_model, read_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

PACKAGE = "topiccrawl.addons.records.templates"
FOLDER = Path("templates")
"""Folder in which a user's own template files are looked for by name."""
MOST_RESULT_PAGES = 76
"""Pages of results that Baidu shows [S1]."""

ValueKind = Literal[
    "name",
    "text",
    "telephone",
    "mail",
    "url",
    "postcode",
    "qq",
    "number",
    "date",
    "address",
]
"""Kind of a value. ``name``: the name of the record's subject; the rest mean what they say."""

MANY = frozenset({"telephone", "mail", "qq"})
"""Kinds of which a record may hold several, if its template does not say otherwise."""

Word = Annotated[str, Field(min_length=1, max_length=100)]
Count = Annotated[int, Field(ge=0)]
_SPACED = re.compile(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])")


class Search(Part):
    """Queries for a search engine: every name with every extension.

    Attributes:
        name: Words to search for.
        extension: Words that narrow it, a place for example; empty: the names alone.
    """

    name: tuple[Word, ...] = ()
    extension: tuple[Word, ...] = ()

    @property
    def queries(self) -> tuple[str, ...]:
        """Extension, a space, name, as the source does [S1]; each once, in order.

        >>> Search(name=("软件公司",), extension=("四川", "重庆")).queries
        ('四川 软件公司', '重庆 软件公司')
        """
        before = [f"{one} " for one in self.extension] or [""]
        return tuple(dict.fromkeys(one + name for one in before for name in self.name))


class CrawlWord(Part):
    """One field of a record.

    Attributes:
        kind: What its values must be.
        synonyms: Other words that label it.
        many: Whether a record may hold several; None: as is usual for the kind (``MANY``).
        required: Whether a record without it is none.
    """

    kind: ValueKind = "text"
    synonyms: tuple[Word, ...] = ()
    many: bool | None = None
    required: bool = False

    @property
    def several(self) -> bool:
        """Return whether a record may hold several values of it."""
        return self.kind in MANY if self.many is None else self.many


class Limits(Part):
    """Bounds of a template's crawl; 0 is no bound, except where a step cannot do without.

    Attributes:
        seeds: Results of the search that are crawled, over all queries.
        result_pages: Result pages requested per query and provider, 1 to 76.
        pages_per_seed: Pages fetched on behalf of one seed.
        next_pages: Pages that a "next page" link leads on to, per layer and seed.
        records: Records after which the crawl ends.
    """

    seeds: Count = 760
    result_pages: Annotated[int, Field(ge=1, le=MOST_RESULT_PAGES)] = 10
    pages_per_seed: Count = 30
    next_pages: Count = 20
    records: Count = 0


class Template(NamedPart):
    """Content of a template file; checked, frozen.

    Attributes:
        name: Its name in store and reports.
        region: Two letters of the country whose telephone numbers and postcodes are meant.
        search: Queries for the search engine.
        filter: Layers of filter keywords, each keyword with its synonyms; no layer: the seeds'
            own pages are read.
        crawl: Fields of a record by their keyword.
        limits: Bounds of the crawl.
        seeds: Canonical URLs to begin with, before those of the search.
        providers: Providers of seeds: names, or tables with a provider's own options;
            ``topiccrawl.discovery`` checks them.
        allowed_hosts: Hosts or domains that may be crawled; empty: all.
        denied_hosts: Hosts or domains that may not.
    """

    region: Annotated[str, Field(pattern="^[A-Z]{2}$")] = "CN"
    search: Search = Search()
    filter: tuple[dict[Word, tuple[Word, ...]], ...] = ()
    crawl: Annotated[dict[Word, CrawlWord], Field(min_length=1)]
    limits: Limits = Limits()
    seeds: Seeds = ()
    providers: tuple[str | dict[str, Any], ...] = ()
    allowed_hosts: Hosts = ()
    denied_hosts: Hosts = ()

    @field_validator("crawl", mode="before")
    @classmethod
    def _kind_alone(cls, value: Any) -> Any:  # noqa: ANN401  (anything may stand in a file)
        if not isinstance(value, dict):
            return value
        return {
            word: {"kind": what} if isinstance(what, str) else what for word, what in value.items()
        }

    @field_validator("filter")
    @classmethod
    def _layers_hold_words(
        cls, layers: tuple[dict[str, tuple[str, ...]], ...]
    ) -> tuple[dict[str, tuple[str, ...]], ...]:
        for number, layer in enumerate(layers):
            if not layer:
                raise FieldError(
                    'layer {number} has no keyword: write "联系我们" = ["联系"], or remove it',
                    number=number + 1,
                )
            for word in (one for key, synonyms in layer.items() for one in (key, *synonyms)):
                if not _bare(word):
                    raise FieldError("{word!r} holds no letter or number: remove it", word=word)
        return layers

    @field_validator("crawl")
    @classmethod
    def _words_once(cls, crawl: dict[str, CrawlWord]) -> dict[str, CrawlWord]:
        owner: dict[str, str] = {}
        for field, how in crawl.items():
            for word in (field, *how.synonyms):
                bare = _bare(word)
                if not bare:
                    raise FieldError(
                        "{word!r} of {field!r} holds no letter or number: remove it",
                        word=word,
                        field=field,
                    )
                if owner.setdefault(bare, field) != field:
                    raise FieldError(
                        "{word!r} is a word of {owner!r} and of {field!r}: keep one of them",
                        word=word,
                        owner=owner[bare],
                        field=field,
                    )
        names = [field for field, how in crawl.items() if how.kind == "name"]
        if len(names) > 1:
            raise FieldError(
                "{first!r} and {second!r} are both of kind name: make one of them text",
                first=names[0],
                second=names[1],
            )
        return crawl

    @model_validator(mode="after")
    def _begins_somewhere(self) -> Template:
        if not self.search.name and not self.seeds:
            raise FieldError("nothing to begin with: give search.name or seeds")
        return self

    def layer_word(self, layer: int, anchor: str) -> str | None:
        """The keyword of a filter layer that an anchor contains, itself or by a synonym [S1].

        Width, case, script and blanks between Chinese characters do not count; None where it
        contains none, or where there is no such layer.

        >>> t = Template(name="t", seeds=["http://a.test/"], crawl={"QQ": "qq"},
        ...              filter=[{"联系我们": ["联系", "contact"]}])
        >>> t.layer_word(0, "联　系 方式"), t.layer_word(0, "Contact us"), t.layer_word(0, "首页")
        ('联系我们', '联系我们', None)
        """
        if not 0 <= layer < len(self.filter):
            return None
        text = _bare(anchor)
        for word, synonyms in self.filter[layer].items():
            if any(_bare(one) in text for one in (word, *synonyms)):
                return word
        return None

    @property
    def naming(self) -> str | None:
        """The field that holds the name of a record's subject."""
        return next((field for field, how in self.crawl.items() if how.kind == "name"), None)

    @property
    def version(self) -> int:
        """Number below 2**24 that changes with the region and the crawl keywords."""
        return self.version_of({"region", "crawl"})


def _bare(word: str) -> str:
    """A word as anchors and labels are compared by."""
    return _SPACED.sub("", fold(word)).strip(" :：.·-_|")


def resolve(argument: str, folder: Path = FOLDER) -> Template:
    """Return the template that a user's argument means: a path, or a name.

    A name is that of a file in ``folder`` or in the package, with or without ``.toml``, or the one
    that a file gives itself.

    Raises:
        TemplateError: Naming file, field, value and remedy.

    >>> resolve("软件公司-四川").search.queries
    ('四川 软件公司',)
    """
    text = argument.strip()
    if text.endswith(".toml"):
        return read(Path(text))
    for name, where in _files(folder):
        if text in {name, read_name(where, _KIND)}:
            return read(where)
    known = ", ".join(f"{name} ({read_name(where, _KIND)})" for name, where in _files(folder))
    raise TemplateError(
        "template {text!r}: no such template; give a path that ends in .toml, or one of {known}",
        text=text,
        known=known,
    )


def read(path: Path | Traversable) -> Template:
    """Return the template of a file.

    Raises:
        TemplateError: With every mistake in the file, each with field, value and remedy.
    """
    return read_model(path, _KIND, name=path.name.removesuffix(".toml"))


def available(folder: Path = FOLDER) -> Iterator[tuple[str, str]]:
    """Yield name and place of the template files that ``resolve`` finds by name."""
    for name, where in _files(folder):
        yield name, str(where)


def _files(folder: Path) -> Iterator[tuple[str, Path | Traversable]]:
    shipped = (one for one in resources.files(PACKAGE).iterdir() if one.name.endswith(".toml"))
    return list_files(folder, shipped)


_KIND = FileKind(
    error=TemplateError,
    called=message("template file"),
    listing=message("write one, or give the name of one that ships with topiccrawl"),
    model=Template,
    parts={"search": Search, "limits": Limits, "crawl": CrawlWord},
    numbers={"limits": message("give a whole number, 0 or more (result_pages: 1 to 76)")},
    remedies={
        "string_pattern_mismatch": message("give a country as two letters: CN, GB"),
        "literal_error": message(
            "give one of name, text, telephone, mail, url, postcode, qq, number, date, address"
        ),
        "dict_type": message('write a table, one line each: "word" = ...'),
        "too_short": message('write a table, one line each: "word" = { kind = "text" }'),
        "model_type": message("write a table of its own: [search] or [limits]"),
    },
)
