"""Suspend coverage's tracer where only code of others runs, as at the start of a command.

Python imports this module in each process of a test run under coverage (``tests/conftest.py``).
The tracer slows all code, measured or not. Nothing of the project runs while modules of other
packages are executed, or while patterns and dataclasses are compiled.
"""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import module_from_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = os.path.dirname(__file__)  # noqa: PTH120 - pathlib loads slowly
OTHERS = ("/site-packages/", "/dist-packages/", os.path.dirname(os.__file__))  # noqa: PTH120
"""Parts of the paths of other packages and of the standard library."""


def untraced(function: Callable[..., Any], of_others: Callable[..., bool]) -> Callable[..., Any]:
    """Wrap a function so that it runs without tracer if ``of_others`` accepts its arguments."""

    def run(*arguments: Any, **options: Any) -> Any:
        tracer = sys.gettrace()
        if tracer is None or not of_others(*arguments):
            return function(*arguments, **options)
        sys.settrace(None)
        try:
            return function(*arguments, **options)
        finally:
            sys.settrace(tracer)

    return run


def is_of_others(loader: SourceFileLoader, _module: object) -> bool:
    return any(part in loader.path for part in OTHERS)


if "COVERAGE_PROCESS_CONFIG" in os.environ:
    for owner, name, of_others in (
        (SourceFileLoader, "exec_module", is_of_others),
        (re._compiler, "compile", lambda *_: True),  # type: ignore[attr-defined]
        (dataclasses, "_process_class", lambda *_: True),
    ):
        setattr(owner, name, untraced(getattr(owner, name), of_others))

hidden = PathFinder.find_spec(__name__, [folder for folder in sys.path if folder != HERE])
"""Another module of this name, such as that of a distribution."""
if hidden and hidden.loader:
    hidden.loader.exec_module(module_from_spec(hidden))
