"""Generate names of months and date orders from the CLDR: ``python -m lab.calendars``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from babel import Locale
from babel.localedata import locale_identifiers

FILE = Path(__file__).parents[1] / "topiccrawl" / "extract" / "calendars.json"


def calendars() -> dict[str, Any]:
    """Return month names and date order by language, and countries with another order."""
    languages = {one: _calendar(one) for one in locale_identifiers() if "_" not in one}
    orders = {
        one.lower().replace("_", "-"): first
        for one in locale_identifiers()
        if "_" in one and (first := _day_first(one)) != languages[one.split("_")[0]][1]
    }
    return {"languages": languages, "orders": dict(sorted(orders.items()))}


def _calendar(name: str) -> tuple[dict[str, int], bool]:
    months = Locale.parse(name).months
    names = [
        months[kind][width]
        for kind in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
    ]
    found = {
        text.lower().rstrip("."): number
        for by_number in names
        for number, text in by_number.items()
        if not any(map(str.isdigit, text))
    }
    return found, _day_first(name)


def _day_first(name: str) -> bool:
    order = Locale.parse(name).date_formats["short"].pattern.lower()
    return bool(order.index("d") < order.index("m"))


if __name__ == "__main__":
    text = json.dumps(calendars(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    FILE.write_text(text + "\n", encoding="utf-8")
