"""Hypothesis profiles: the same examples in every run, or many random ones (``make fuzz``).

The examples depend on the source of the property alone, so that a failure indicates a change.
``TOPICCRAWL_TEST_FUZZ=TIMES`` draws that many times as many random examples. A failing one is
stored below ``.hypothesis`` until it is fixed and added as an ``@example``.
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
"""Health check that is suppressed: a busy machine is slow, and properties do not concern speed."""


def load() -> None:
    """Load the profile that the environment selects."""
    quiet = settings(deadline=None, suppress_health_check=[BUSY], print_blob=True)
    settings.register_profile("steady", quiet, derandomize=True, database=None)
    settings.register_profile("fuzz", quiet)
    if TIMES:
        settings.load_profile("fuzz")
    else:
        settings.load_profile("steady")
        _draw_no_constants()


def multiply(items: Iterable[Any]) -> None:
    """Multiply the examples of each property by ``TIMES``, explicit numbers included."""
    functions = {getattr(item.obj, "__func__", item.obj) for item in items if hasattr(item, "obj")}
    for function in functions:
        if own := getattr(function, OWN, None):
            setattr(function, OWN, _more(own))
    classes = {getattr(item, "cls", None) for item in items}
    for machine in classes:
        if isinstance(own := getattr(machine, "settings", None), settings):
            setattr(machine, "settings", _more(own))  # noqa: B010 - a class that its base makes


def _more(own: settings) -> settings:
    return settings(own, max_examples=own.max_examples * TIMES)


def _draw_no_constants() -> None:
    """Draw no literals of the project's own modules, which change with each edit and import."""
    none = getattr(providers, "_local_constants", None)
    if none is not None:  # other versions lack it, and examples vary a little
        providers._get_local_constants = lambda: none
