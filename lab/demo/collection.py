"""Export of a demo web as files: a page collection and its topics, for crawl benchmarks.

A collection (``*.web.jsonl.gz``) has one page per line: ``url``, ``status``, ``type``, ``headers``,
``body64``, ``label``, ``kind``. It has the pages that a polite crawler can fetch,
and redirects to them; traps and faults cannot be exported.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING

from lab.demo.answers import COOKIE
from lab.demo.judge import topic_record
from lab.demo.plan import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab.demo.web import Web

_LATE = 1_000
"""Number of a visit from which no page fails."""
_TOPICS = "topics.json"


def write_collection(web: Web, path: Path) -> None:
    """Write a web to ``path`` and its topic beside it, as ``NAME.topics.json``.

    Equal webs give equal bytes.
    """
    with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
        for page in _pages(web):
            packed.write((json.dumps(page, ensure_ascii=False) + "\n").encode())
    stem = path.name.removesuffix(".web.jsonl.gz")
    write_topics(web, path.with_name(f"{stem}.{_TOPICS}"))


def write_topics(web: Web, path: Path) -> None:
    """Write the web's topic: terms, seeds, budget, the oracle's curve and area."""
    subject = web.plan.topic
    record = topic_record(web.graph(), subject.slug, subject.slug, subject.terms, web.seeds)
    path.write_text(json.dumps([record], ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _pages(web: Web) -> Iterator[dict[str, object]]:
    for number, entry in enumerate(web.plan.entries):
        if number not in web.obtainable and entry.kind != Kind.REDIRECT:
            continue
        if entry.kind == Kind.TRAP:
            continue
        answer = web.answer(entry.url, _LATE, COOKIE)
        headers = {k: v for k, v in answer.headers if k not in {"Content-Type", "ETag"}}
        kind = dict(answer.headers).get("Content-Type", "text/html")
        subject = web.truth.subject(number)
        yield {
            "url": entry.url,
            "status": answer.status,
            "type": kind,
            "headers": headers,
            "kind": str(entry.kind),
            "label": subject.slug if subject and web.truth.is_content(number) else "",
            "body64": base64.b64encode(answer.body).decode("ascii"),
        }
