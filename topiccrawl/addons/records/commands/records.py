"""``scrapy records list|show|export|forget|allow``: records of template crawls."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.addons.records.periods.periods import Periods
from topiccrawl.addons.records.records import Records, StoredRecord, Version
from topiccrawl.addons.records.templates.template import resolve
from topiccrawl.commands.terminal import OperatorCommand, count, say
from topiccrawl.errors import TemplateError
from topiccrawl.messages import message, tr
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.formats import comma_separated, json_lines, open_writer, parquet

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from topiccrawl.addons.records.record import FoundValue
    from topiccrawl.storage.formats import Formats

SHOWN = 20
"""Default number of listed records."""

VALUE_SEPARATOR = "; "
"""Separator of several values of a field in CSV."""
_TIMES = ("first_seen", "changed_at", "checked_at", "gone_at")
_FIRST_COLUMNS = ("template", "entity", "name")
_LAST_COLUMNS = ("confidence", "seed", *_TIMES, "urls")


class Command(OperatorCommand, ScrapyCommand):
    """List, show, export or forget records."""

    usage = "[options] list | show ENTITY | export FILE | forget ENTITY ... | allow ENTITY ..."
    summary = message("List, show, export or forget records of template crawls")
    details = message(
        "list: records by the time when they were first found. show: one record by entity or "
        "name, with evidence and older versions. export: all records to a .jsonl, .csv or .parquet "
        "file, or - for standard output. forget: delete records with their versions and do not "
        "store them again (add hosts to the template's denied_hosts to stop fetching them). "
        "allow: undo forget."
    )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--template", default="", metavar="TEMPLATE", help=tr("only records of this template"))
        add("--gone", action="store_true", help=tr("include gone records"))
        text = tr("at most N records; 0: all (default of list: {SHOWN})", SHOWN=SHOWN)
        add("--limit", type=count, metavar="N", help=text)
        add("--json", action="store_true", help=tr("one JSON object a line"))

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        asyncio.run(self._act(args, opts))

    async def _act(self, args: list[str], opts: argparse.Namespace) -> None:
        match args:
            case ["list"] | []:
                await self._list(opts)
            case ["show", entity]:
                await self._show(entity, opts)
            case ["export", file]:
                await self._export(file, opts)
            case ["forget", *entities] if entities:
                await self._forget(entities, opts)
            case ["allow", *entities] if entities:
                async with self._store() as store:
                    back = await store.allow(_name(opts.template), entities)
                say(tr("{back} allowed: the next period may store them again", back=back))
            case _:
                raise UsageError

    async def _list(self, opts: argparse.Namespace) -> None:
        def show(stored: StoredRecord) -> None:
            say(_json(stored) if opts.json else _line(stored))

        await self._for_each(show, opts, SHOWN)

    async def _show(self, entity: str, opts: argparse.Namespace) -> None:
        async with self._store() as store:
            found = await self._named({entity}, store, opts)
            for stored in found:
                versions = await store.versions(stored.template, stored.entity)
                say(*([_json(stored)] if opts.json else _details(stored, versions)))
        self._report_unknown([] if found else [entity])

    def _report_unknown(self, entities: list[str]) -> None:
        """Print the entities that have no record, and set the exit status."""
        place = storage_of(self.options).place
        text = message("{entity}: no such record in {place}")
        say(*(tr(text, entity=entity, place=place) for entity in entities))
        self.exitcode = int(bool(entities))

    async def _forget(self, entities: list[str], opts: argparse.Namespace) -> None:
        """Delete records and the visits of their seeds."""
        gone, names = 0, set()
        async with Periods(storage_of(self.options)) as periods, self._store() as store:
            for stored in await self._named(set(entities), store, opts):
                names |= {stored.entity, stored.record.name}
                gone += await store.forget(stored.template, [stored.entity])
                seeds = await periods.get(stored.template, [stored.seed])
                await periods.save([replace(seed, visits={}) for seed in seeds.values()])
        text = message(
            "{gone} deleted; not stored again (to undo: topiccrawl records allow ENTITY)"
        )
        if gone:
            say(tr(text, gone=gone))
        self._report_unknown([one for one in dict.fromkeys(entities) if one not in names])

    async def _export(self, file: str, opts: argparse.Namespace) -> None:
        fields: dict[str, None] = {}
        if file.endswith(".csv"):  # its first line names the columns

            def add(stored: StoredRecord) -> None:
                fields.update(dict.fromkeys(one.field for one in stored.record.found))

            await self._for_each(add, opts, 0, report=False)
        with open_writer(file, formats(tuple(fields))) as writer:
            await self._for_each(writer.write, opts, 0)

    async def _for_each(
        self, use: Callable[[StoredRecord], object], opts: argparse.Namespace, usual: int, *,
        report: bool = True,
    ) -> None:  # fmt: skip
        """Call a function with each selected record, and report if there are none.

        Args:
            use: The function.
            opts: Options that select records.
            usual: Maximum number of records without ``--limit``; 0: all.
            report: Whether to report.
        """
        limit, found = usual if opts.limit is None else opts.limit, 0
        selected = _name(opts.template)
        async with (
            self._store() as store,
            aclosing(store.select(selected, gone=opts.gone)) as records,
        ):
            async for stored in records:
                use(stored)
                found += 1
                if found == limit:
                    break
        if report and not found:
            place = storage_of(self.options).place
            text = tr("{place}: no record of any template", place=place)
            if selected:
                text = tr("{place}: no record of template {name!r}", place=place, name=selected)
            say(text, to=sys.stderr)

    async def _named(
        self, names: set[str], store: Records, opts: argparse.Namespace
    ) -> list[StoredRecord]:
        """Return the records with one of these entities or names, including gone ones."""
        async with aclosing(store.select(_name(opts.template), gone=True)) as records:
            return [
                stored
                async for stored in records
                if not names.isdisjoint((stored.entity, stored.record.name))
            ]

    def _store(self) -> Records:
        return Records(storage_of(self.options))


def _name(argument: str) -> str:
    """Return the name of a template; the argument itself if there is no such template file."""
    try:
        return resolve(argument).name if argument else ""
    except TemplateError:
        if argument.endswith(".toml"):
            raise
        return argument


def _json(stored: StoredRecord) -> str:
    return json.dumps(record_values(stored), ensure_ascii=False)


def _line(stored: StoredRecord) -> str:
    values = record_values(stored)["values"]
    said = " · ".join(
        f"{field} {VALUE_SEPARATOR.join(found)}" for field, found in values.items() if found
    )
    day = iso(stored.gone_at)[:10]
    gone = "  " + tr("gone {time}", time=day) if day else ""
    return f"{stored.confidence:.2f}  {stored.entity}  {stored.record.name}  {said}{gone}"


def _details(stored: StoredRecord, versions: list[Version]) -> list[str]:
    record = stored.record
    gone = " · " + tr("gone {time}", time=iso(stored.gone_at)) if stored.gone_at else ""
    origin = message("template {template} · entity {entity} · seed {seed}")
    dates = message("first seen {first} · changed {changed} · checked {checked}")
    first, changed, checked = map(iso, (stored.first_seen, stored.changed_at, stored.checked_at))
    return [
        record.name or stored.entity,
        tr(origin, template=record.template, entity=stored.entity, seed=stored.seed),
        tr(dates, first=first, changed=changed, checked=checked) + gone,
        "",
        *chain.from_iterable(map(_evidence, record.found)),
        *(_version(one) for one in versions),
        "",
    ]


def _evidence(one: FoundValue) -> tuple[str, ...]:
    head = f"{one.field}: {one.value}  ({one.confidence:.2f}, {one.where})"
    return head, *(f"    {line}" for line in (*one.snippet.split("\n"), one.url))


def _version(version: Version) -> str:
    fields = dict.fromkeys(one.field for one in version.record.found)
    values = ", ".join(f"{f} {VALUE_SEPARATOR.join(version.record.values(f))}" for f in fields)
    text = message("until {time}: {name} {values}")
    return tr(text, time=iso(version.until), name=version.record.name, values=values)


def record_values(stored: StoredRecord) -> dict[str, Any]:
    """Return a record with its evidence as JSON values; times are ISO 8601 in UTC.

    >>> from topiccrawl.addons.records.records import StoredRecord
    >>> from topiccrawl.addons.records.record import FoundValue, Record
    >>> record = Record("t", "甲", (FoundValue("QQ", "10001"),), ("http://a.test/",))
    >>> found = record_values(StoredRecord("a.test", record, first_seen=1.0))
    >>> found["values"], found["first_seen"], found["gone_at"]
    ({'QQ': ['10001']}, '1970-01-01T00:00:01Z', '')
    """
    record = stored.record
    fields = dict.fromkeys(one.field for one in record.found)
    return {
        "template": record.template,
        "entity": stored.entity,
        "name": record.name,
        "values": {field: list(record.values(field)) for field in fields},
        "confidence": round(stored.confidence, 4),
        "seed": stored.seed,
        **{name: iso(getattr(stored, name)) for name in _TIMES},
        "urls": list(record.urls),
        "evidence": [one._asdict() for one in record.found],
    }


def iso(time: float) -> str:
    """Format seconds since the epoch as ISO 8601 in UTC; "" for 0."""
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%SZ}" if time else ""


def formats(fields: Sequence[str]) -> Formats[StoredRecord]:
    """Return the formats of record files; CSV has a column per field."""
    names = (*_FIRST_COLUMNS, *fields, *_LAST_COLUMNS)

    def cells(stored: StoredRecord) -> Iterator[str | float]:
        values = record_values(stored)
        yield from (values[name] for name in _FIRST_COLUMNS)
        yield from (VALUE_SEPARATOR.join(values["values"].get(field, ())) for field in fields)
        yield from (values[name] for name in _LAST_COLUMNS[:-1])
        yield VALUE_SEPARATOR.join(values["urls"])

    return {
        ".jsonl": lambda file: json_lines(file, record_values),
        ".csv": lambda file: comma_separated(file, names, cells),
        ".parquet": lambda file: parquet(file, _schema, record_values),
    }


def _schema(pa: Any) -> Any:  # noqa: ANN401 - pyarrow, an extra
    """Return the Arrow schema of Parquet files; the evidence is a list of structs."""
    text = pa.string()
    names = ("field", "value", "text", "where", "url", "snippet")
    one = pa.struct([
        *((name, text) for name in names), ("confidence", pa.float64()), ("image", pa.bool_()),
    ])  # fmt: skip
    return pa.schema([
        *((name, text) for name in (*_FIRST_COLUMNS, "seed", *_TIMES)),
        ("confidence", pa.float64()), ("urls", pa.list_(text)), ("evidence", pa.list_(one)),
    ])  # fmt: skip
