"""``scrapy records list|show|export|forget|allow``: what template crawls found."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import aclosing
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.addons.records.periods.periods import Periods
from topiccrawl.addons.records.recordfiles import BETWEEN, formats, iso, shown
from topiccrawl.addons.records.records import Records
from topiccrawl.addons.records.templates.template import resolve
from topiccrawl.commands.terminal import OperatorCommand, count, say
from topiccrawl.errors import TemplateError
from topiccrawl.storage.choice import storage_of
from topiccrawl.storage.formats import writing
from topiccrawl.text.messages import tr

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncGenerator

    from topiccrawl.addons.records.record import Found
    from topiccrawl.addons.records.records import Kept, Version

SHOWN = 20
"""Records that are listed by default."""


class Command(OperatorCommand, ScrapyCommand):
    """List, show, export or forget records."""

    @override
    def syntax(self) -> str:
        return "[options] list | show ENTITY | export FILE | forget ENTITY ... | allow ENTITY ..."

    @override
    def short_desc(self) -> str:
        return tr("List, show, export or forget what template crawls found")

    @override
    def long_desc(self) -> str:
        return tr(
            "list: in the order of first sight. show: one by its entity or name, with evidence and "
            "older versions. export: all into a .jsonl, .csv or .parquet file, or - for standard "
            "output. forget: delete records with their versions; they do not come back, though the "
            "template's denied_hosts alone keep their pages from being fetched. allow: let them."
        )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--template", default="", metavar="TEMPLATE", help=tr("only of this template"))
        add("--gone", action="store_true", help=tr("also those that are gone"))
        add(
            "--limit",
            type=count,
            metavar="N",
            help=tr("at most N; 0: all (list: {SHOWN})", SHOWN=SHOWN),
        )
        add("--json", action="store_true", help=tr("one JSON object a line"))

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        match args:
            case ["list"] | []:
                asyncio.run(self._list(opts))
            case ["show", entity]:
                asyncio.run(self._show(entity, opts))
            case ["export", file]:
                asyncio.run(self._export(file, opts))
            case ["forget", *entities] if entities:
                gone, unknown = asyncio.run(self._forget(entities, opts))
                say(
                    tr(
                        "{gone} deleted, and kept out from now on (undo: scrapy records "
                        "allow ENTITY)",
                        gone=gone,
                    )
                )
                say(
                    *(
                        f"{name}: no such record in {storage_of(self.options).place}"
                        for name in unknown
                    )
                )
                self.exitcode = int(bool(unknown))
            case ["allow", *entities] if entities:
                back = asyncio.run(self._allow(entities, opts))
                say(tr("{back} allowed: the next period may find them again", back=back))
            case _:
                raise UsageError

    async def _list(self, opts: argparse.Namespace) -> None:
        found = False
        async with self._store() as store, aclosing(_some(store, opts, SHOWN)) as records:
            async for kept in records:
                found = True
                say(_json(kept) if opts.json else _line(kept))
        if not found:
            self._say_none(opts)

    def _say_none(self, opts: argparse.Namespace) -> None:
        """Said beside the output, which may be read by a program."""
        about = f"template {_name(opts.template)!r}" if opts.template else "any template"
        say(
            tr("{place}: no record of {about}", place=storage_of(self.options).place, about=about),
            to=sys.stderr,
        )

    async def _show(self, entity: str, opts: argparse.Namespace) -> None:
        shown_any = False
        chosen = _name(opts.template)
        async with self._store() as store, aclosing(store.select(chosen, gone=True)) as records:
            async for kept in records:
                if entity in {kept.entity, kept.record.name}:
                    shown_any = True
                    versions = await store.versions(kept.template, kept.entity)
                    say(*([_json(kept)] if opts.json else _whole(kept, versions)))
        if not shown_any:
            say(
                tr(
                    "{entity}: no such record in {place}",
                    entity=entity,
                    place=storage_of(self.options).place,
                )
            )
            self.exitcode = 1

    async def _forget(self, entities: list[str], opts: argparse.Namespace) -> tuple[int, list[str]]:
        """Delete records and their seeds' visits; return their number, and entities not found."""
        gone, unknown = 0, dict.fromkeys(entities)
        async with Periods(storage_of(self.options)) as periods, self._store() as store:
            found = [
                kept
                async for kept in store.select(_name(opts.template), gone=True)
                if {kept.entity, kept.record.name}.intersection(entities)
            ]
            for kept in found:
                for name in (kept.entity, kept.record.name):
                    unknown.pop(name, None)
                both = dict.fromkeys((kept.entity, kept.entity.removeprefix("www.")))
                gone += await store.forget(kept.template, list(both))
                seeds = await periods.get(kept.template, [kept.seed])
                await periods.save([replace(seed, visits={}) for seed in seeds.values()])
        return gone, list(unknown)

    async def _allow(self, entities: list[str], opts: argparse.Namespace) -> int:
        """Allow forgotten entities to be stored again."""
        async with self._store() as store:
            return await store.allow(_name(opts.template), entities)

    async def _export(self, file: str, opts: argparse.Namespace) -> None:
        async with self._store() as store:
            fields: dict[str, None] = {}
            if file.endswith(".csv"):  # its first line names the columns
                async for kept in _some(store, opts, 0):
                    fields.update(dict.fromkeys(one.field for one in kept.record.found))
            found = False
            with writing(file, formats(tuple(fields))) as writer:
                async with aclosing(_some(store, opts, 0)) as records:
                    async for kept in records:
                        found = True
                        writer.write(kept)
        if not found:
            self._say_none(opts)

    def _store(self) -> Records:
        return Records(storage_of(self.options))


async def _some(store: Records, opts: argparse.Namespace, usual: int) -> AsyncGenerator[Kept, None]:
    limit = usual if opts.limit is None else opts.limit
    found = 0
    async with aclosing(store.select(_name(opts.template), gone=opts.gone)) as records:
        async for kept in records:
            yield kept
            found += 1
            if found == limit:
                return


def _name(argument: str) -> str:
    """Return a template's own name; the argument itself where its file is gone."""
    try:
        return resolve(argument).name if argument else ""
    except TemplateError:
        if argument.endswith(".toml"):
            raise
        return argument


def _json(kept: Kept) -> str:
    return json.dumps(shown(kept), ensure_ascii=False)


def _line(kept: Kept) -> str:
    values = shown(kept)["values"]
    said = " · ".join(f"{field} {BETWEEN.join(found)}" for field, found in values.items() if found)
    gone = f"  gone {iso(kept.gone_at)[:10]}" if kept.gone_at else ""
    return f"{kept.confidence:.2f}  {kept.entity}  {kept.record.name}  {said}{gone}"


def _whole(kept: Kept, versions: list[Version]) -> list[str]:
    record = kept.record
    return [
        record.name or kept.entity,
        f"template {record.template} · entity {kept.entity} · seed {kept.seed}",
        f"first seen {iso(kept.first_seen)} · changed {iso(kept.changed_at)} · "
        f"checked {iso(kept.checked_at)}"
        + (f" · gone {iso(kept.gone_at)}" if kept.gone_at else ""),
        "",
        *chain.from_iterable(map(_evidence, record.found)),
        *(_version(one) for one in versions),
        "",
    ]


def _evidence(one: Found) -> tuple[str, ...]:
    head = f"{one.field}: {one.value}  ({one.confidence:.2f}, {one.where})"
    return head, *(f"    {line}" for line in (*one.snippet.split("\n"), one.url))


def _version(version: Version) -> str:
    fields = dict.fromkeys(one.field for one in version.record.found)
    values = ", ".join(f"{f} {BETWEEN.join(version.record.values(f))}" for f in fields)
    return f"until {iso(version.until)}: {version.record.name} {values}"
