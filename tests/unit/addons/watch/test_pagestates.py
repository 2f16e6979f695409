"""Tests of page states: their changes by visits, failures and credits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.watch.pagestates import MAX_LINKS, PageStates, VisitResult, offered
from topiccrawl.addons.watch.policies import Pace, UniformRevisits
from topiccrawl.storage.pages import Role

if TYPE_CHECKING:
    from topiccrawl.storage.pages import PageState

URL = "http://a.test/1"
PACE = Pace(hub=100.0, detail=50.0, days=30.0)


def ledger() -> PageStates:
    return PageStates("足球", UniformRevisits(PACE), gone_seconds=7.0)


def article(at: float = 10.0, digest: str = "one", etag: str = '"1"') -> VisitResult:
    return VisitResult(at, etag=etag, digest=digest, relevance=0.5)


def known() -> PageState:
    state = ledger().first_visit(URL, article())
    assert state is not None
    return state


def test_only_hubs_and_articles_have_a_state() -> None:
    states = ledger()
    assert states.first_visit(URL, VisitResult(10.0, relevance=0.5)) is None
    hub = states.first_visit(
        URL, VisitResult(10.0, hub=True, digest="one", links=("http://a.test/2",))
    )
    assert hub is not None
    assert (hub.role, hub.due, hub.changed_at) == (Role.HUB, 110.0, 0.0)
    assert (known().role, known().due, known().etag) == (Role.DETAIL, 60.0, '"1"')


def test_unchanged_article_is_visited_less_often() -> None:
    states, state = ledger(), known()
    state = states.revisit(state, VisitResult(60.0, 304))
    assert (state.checked_at, state.changed_at, state.due) == (60.0, 0.0, 110.0)
    assert (state.etag, state.digest, state.relevance) == ('"1"', "one", 0.5)
    state = states.revisit(state, article(110.0, etag=""))
    assert (state.changed_at, state.etag, state.due) == (0.0, "", 210.0)


def test_changed_text_is_dated_and_missing_text_is_ignored() -> None:
    states = ledger()
    state = states.revisit(known(), article(60.0, "two"))
    assert (state.changed_at, state.digest) == (60.0, "two")
    state = states.revisit(state, VisitResult(70.0, relevance=0.1))
    assert (state.changed_at, state.digest) == (60.0, "two")


def test_page_is_gone_after_two_failures_and_changed_when_back() -> None:
    states = ledger()
    failed = states.failed_visit(known(), 60.0, 404)
    assert (failed.misses, failed.gone_at, failed.due) == (1, 0.0, 67.0)
    assert states.revisit(failed, article(67.0)).misses == 0
    gone = states.failed_visit(failed, 67.0, 410)
    assert (gone.misses, gone.gone_at, gone.due) == (2, 67.0, 0.0)
    assert states.failed_visit(gone, 99.0, 404).gone_at == 67.0
    back = states.revisit(gone, article(120.0))
    assert (back.gone_at, back.changed_at) == (0.0, 120.0)
    assert back.due > 120.0


def test_gone_hub_is_still_visited_and_may_return() -> None:
    states = ledger()
    hub = states.first_visit(URL, VisitResult(10.0, hub=True))
    assert hub is not None
    gone = states.failed_visit(states.failed_visit(hub, 110.0, 404), 117.0, 404)
    assert (gone.gone_at, gone.due) == (117.0, 117.0 + 400.0)
    back = states.revisit(gone, VisitResult(517.0, hub=True))
    assert (back.gone_at, back.misses, back.due) == (0.0, 0, 617.0)


def test_hub_that_was_never_fetched_is_retried_ever_later_and_never_gone() -> None:
    states = ledger()
    state = states.unfetched(URL, 10.0)
    assert (state.role, state.due) == (Role.HUB, 10.0 + 60.0)
    for at, wait in ((70.0, 120.0), (190.0, 240.0)):
        state = states.failed_visit(state, at, 404)
        assert (state.due, state.gone_at) == (at + wait, 0.0)


def test_too_long_validator_is_not_stored() -> None:
    state = ledger().first_visit(URL, article(etag="x" * 5_000))
    assert state is not None
    assert state.etag == ""


def test_server_error_is_no_miss() -> None:
    state = ledger().failed_visit(known(), 60.0, 503)
    assert (state.misses, state.gone_at) == (0, 0.0)
    assert state.due > 60.0


def test_hub_changes_with_its_links_and_gets_credit() -> None:
    states = ledger()
    links = tuple(f"http://a.test/{n}" for n in range(5))
    state = states.first_visit(URL, VisitResult(10.0, hub=True, links=links[:3]))
    assert state is not None
    assert offered(state, links) == 2
    same = states.revisit(state, VisitResult(110.0, links=links[2::-1]))
    assert same.changed_at == 0.0
    more = states.revisit(same, VisitResult(210.0, links=links))
    assert more.changed_at == 210.0
    rich: PageState | None = more
    for _ in range(2):
        rich = states.credit(URL, rich, VisitResult(215.0))
    assert rich is not None
    assert (rich.more["visits"]["gains"], rich.more["visits"]["visits"]) == (2.0, 3)
    assert rich.checked_at == 210.0


def test_links_that_a_long_hub_does_not_store_are_not_new_at_each_visit() -> None:
    links = tuple(f"http://a.test/{number}" for number in range(MAX_LINKS + 1_000))
    state = ledger().first_visit(URL, VisitResult(1.0, hub=True, links=links))
    assert state is not None
    assert offered(state, links) == offered(state, links[500:]) == 0
    more = tuple(f"http://a.test/new/{number}" for number in range(30))
    assert 0 < offered(state, (*links, *more)) <= 30
