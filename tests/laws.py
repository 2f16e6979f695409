"""How laws (Hypothesis) run: the same examples in every run, or random and many (``make fuzz``).

A run that everybody's work waits for must not find today what was there yesterday: examples are
drawn from a seed that is the law's own text, and from nothing else. New ones are looked for with
``TOPICCRAWL_TEST_FUZZ=TIMES``: that many times as many, other ones each time, and what fails is
kept below ``.hypothesis`` until it is mended; then it becomes an ``@example``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

if TYPE_CHECKING:
    from collections.abc import Iterable

TIMES = int(os.environ.get("TOPICCRAWL_TEST_FUZZ", "0"))
OWN = "_hypothesis_internal_use_settings"

BUSY = HealthCheck.too_slow
"""Machines that are busy must not break laws: they are about what holds, not how fast."""


def load() -> None:
    """Load the profile that the environment asks for."""
    quiet = settings(deadline=None, suppress_health_check=[BUSY], print_blob=True)
    settings.register_profile("steady", quiet, derandomize=True, database=None)
    settings.register_profile("fuzz", quiet)
    if TIMES:
        settings.load_profile("fuzz")
    else:
        settings.load_profile("steady")
        _draw_no_constants()


def multiply(items: Iterable[Any]) -> None:
    """Give each law among these tests ``TIMES`` as many examples, also where it says how many."""
    functions = {getattr(item.obj, "__func__", item.obj) for item in items if hasattr(item, "obj")}
    for law in functions:
        if own := getattr(law, OWN, None):
            setattr(law, OWN, _more(own))
    classes = {getattr(item, "cls", None) for item in items}
    for machine in classes:
        if isinstance(own := getattr(machine, "settings", None), settings):
            setattr(machine, "settings", _more(own))  # noqa: B010 - a class that its base makes


def _more(own: settings) -> settings:
    return settings(own, max_examples=own.max_examples * TIMES)


def _draw_no_constants() -> None:
    """Draw no literals of the project's own modules: each change, and each import, alters them."""
    none = getattr(providers, "_local_constants", None)
    if none is not None:  # else this Hypothesis names it otherwise, and examples vary a little
        providers._get_local_constants = lambda: none
