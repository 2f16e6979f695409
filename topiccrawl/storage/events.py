"""Events of watched pages: new, changed and gone articles."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topiccrawl.storage.pages import PageState, Window


@dataclass(frozen=True, slots=True)
class Change:
    """Event of a watched page; also a Scrapy item (``-a since=``).

    Attributes:
        event: ``new``, ``changed`` or ``gone``.
        url: Canonical URL of the page.
        at: Time of detection, seconds since the epoch.
        owner: Name of the topic or template.
        found_on: URL of the page on which it was found first, or "".
    """

    event: str
    url: str
    at: float
    owner: str
    found_on: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values by field name.

        >>> Change("gone", "http://a.test/1", 5.0, "足球").to_dict()["event"]
        'gone'
        """
        return asdict(self)


def changes_in_window(window: Window) -> list[Change]:
    """Return the events of a time window, oldest first."""
    events = [_change("new", state, state.first_seen) for state in window.new]
    events += [_change("changed", state, state.changed_at) for state in window.changed]
    events += [_change("gone", state, state.gone_at) for state in window.gone]
    return sorted(events, key=lambda change: change.at)


def change_between(known: PageState | None, state: PageState) -> Change | None:
    """Return the event between two states of an article, or None.

    Args:
        known: Earlier state; None if the page is new.
        state: Later state.
    """
    if known is None:
        return _change("new", state, state.first_seen)
    if state.gone_at and not known.gone_at:
        return _change("gone", state, state.gone_at)
    if state.changed_at > known.changed_at:
        return _change("changed", state, state.changed_at)
    return None


def _change(event: str, state: PageState, at: float) -> Change:
    return Change(event, state.url, at, state.owner, state.found_on)
