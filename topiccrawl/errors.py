"""What can go wrong, as a tree; every message names the thing, the value and the remedy.

TopiccrawlError
├── ConfigurationError      the operator's input is wrong; nothing has been requested yet
│   ├── TopicError          a topic file or topic argument
│   ├── TemplateError       a template file or template argument
│   └── SettingError        a Scrapy setting
├── StateError              what lies on disk cannot be used
│   ├── StateVersionError   written by another version, no migration
│   └── StateLockedError    another process holds it
└── StorageError            a write failed: full disk, read-only folder
    └── StorageAwayError    the server is away; it may come back
"""


class TopiccrawlError(Exception):
    """Base of all errors that topiccrawl raises on purpose.

    Args:
        message: What is wrong, and the remedy.
        public: The same without the text of any file, for answers over HTTP; else the message.
    """

    def __init__(self, message: str = "", *, public: str = "") -> None:
        super().__init__(message)
        self.public = public or message


class ConfigurationError(TopiccrawlError):
    """Operator input that cannot be used; raised before any request is sent."""


class TopicError(ConfigurationError):
    """A topic that cannot be used; names file, field, value and remedy."""


class TemplateError(ConfigurationError):
    """A template that cannot be used; names file, field, value and remedy."""


class SettingError(ConfigurationError):
    """A setting that cannot be used; names setting, value and remedy."""


class StateError(TopiccrawlError):
    """Stored state that cannot be used as it is."""


class StateVersionError(StateError):
    """State of a version that this program neither reads nor migrates."""


class StateLockedError(StateError):
    """State that another running process holds."""


class StorageError(TopiccrawlError):
    """A write that failed; what was stored before is intact."""


class StorageAwayError(StorageError):
    """A database that does not answer; the same call may succeed later."""


def finish_reason(error: TopiccrawlError) -> str:
    """Return the finish reason of a crawl that the error ended.

    >>> finish_reason(StorageError("no room")), finish_reason(StateLockedError("in use"))
    ('storage_error', 'state_error')
    """
    if isinstance(error, ConfigurationError):
        return "setting_error"
    return "storage_error" if isinstance(error, StorageError) else "state_error"
