"""Class tree of topiccrawl's errors; every message names the subject, the value and the remedy.

TopiccrawlError
├── ConfigurationError      the operator's input is wrong; nothing has been requested yet
│   ├── TopicError          a topic file or topic argument
│   ├── TemplateError       a template file or template argument
│   ├── FieldError          a field of a file; collected with the file's other mistakes
│   └── SettingError        a Scrapy setting
├── StateError              the state on disk cannot be used
│   ├── StateVersionError   written by another version or program, no migration
│   └── StateLockedError    another process has locked it
└── StorageError            a write failed: full disk, read-only folder
    └── StorageAwayError    the server does not respond; a retry may succeed
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class TopiccrawlError(Exception):
    """Base of all errors that topiccrawl raises itself.

    ``str`` returns the message in English, for logs. ``topiccrawl.messages.localize`` returns it
    in the user's language.

    Args:
        message: Cause and remedy; a template of ``str.format`` if there are values.
        public: Message without the contents of files, for HTTP responses; by default the message.
        values: Values of the template.
    """

    def __init__(self, message: str = "", *, public: str = "", **values: object) -> None:
        super().__init__(message.format(**values) if values else message)
        self.message, self.values = message, values
        self.public = public or str(self)


class ConfigurationError(TopiccrawlError):
    """Operator input that cannot be used; raised before any request is sent."""


class TopicError(ConfigurationError):
    """A topic that cannot be used; names file, field, value and remedy."""


class TemplateError(ConfigurationError):
    """A template that cannot be used; names file, field, value and remedy."""


class FieldError(ConfigurationError, ValueError):
    """A field that cannot be used; a ValueError, so that pydantic collects all of them."""


class SettingError(ConfigurationError):
    """A setting that cannot be used; names setting, value and remedy."""


class StateError(TopiccrawlError):
    """Stored state that cannot be used."""


class StateVersionError(StateError):
    """State of a version or program that this one can neither read nor migrate."""


class StateLockedError(StateError):
    """State that another running process has locked."""


class StorageError(TopiccrawlError):
    """A failed write; data stored before is intact."""


class StorageAwayError(StorageError):
    """A database that does not respond; a retry may succeed."""


class StorageRefusedError(StorageError):
    """Data that the database refuses, such as too large a document; it may accept other data."""


def finish_reason(error: TopiccrawlError) -> str:
    """Return the finish reason of a crawl that ended with the error.

    >>> finish_reason(StorageError("no room")), finish_reason(StateLockedError("in use"))
    ('storage_error', 'state_error')
    """
    if isinstance(error, ConfigurationError):
        return "setting_error"
    return "storage_error" if isinstance(error, StorageError) else "state_error"


def expect(value: object, kinds: type | tuple[type, ...], wanted: str, remedy: str) -> None:
    """Refuse an argument of another type, so that the error names it and not an inner function.

    Args:
        value: The argument.
        kinds: Its types.
        wanted: What the argument must be.
        remedy: What to do instead.

    Raises:
        TypeError: The argument has another type.
    """
    if not isinstance(value, kinds):
        raise TypeError(f"{wanted}, not {type(value).__name__}: {remedy}")


@contextmanager
def translated(
    kind: type[TopiccrawlError],
    text: str,
    causes: tuple[type[Exception], ...] = (OSError,),
    /,
    **values: Any,  # noqa: ANN401 - any values
) -> Iterator[None]:
    """Raise exceptions as an error of topiccrawl.

    Args:
        kind: Class of the error.
        text: Its message; ``{error}`` is the exception, ``{strerror}`` its reason.
        causes: Classes of the exceptions.
        values: Other values of the message.
    """
    try:
        yield
    except causes as error:
        strerror = getattr(error, "strerror", None) or error
        raise kind(text, **values, error=error, strerror=strerror) from error
