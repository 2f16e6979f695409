"""What visits make of a page's state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.watch.pagestates import PageStates, VisitResult, offered
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
    book = ledger()
    assert book.first_visit(URL, VisitResult(10.0, relevance=0.5)) is None
    hub = book.first_visit(
        URL, VisitResult(10.0, hub=True, digest="one", links=("http://a.test/2",))
    )
    assert hub is not None
    assert (hub.role, hub.due, hub.changed_at) == (Role.HUB, 110.0, 0.0)
    assert (known().role, known().due, known().etag) == (Role.DETAIL, 60.0, '"1"')


def test_an_unchanged_article_is_looked_at_ever_more_seldom_and_keeps_its_validators() -> None:
    book, state = ledger(), known()
    state = book.revisit(state, VisitResult(60.0, 304))
    assert (state.checked_at, state.changed_at, state.due) == (60.0, 0.0, 110.0)
    assert (state.etag, state.digest, state.relevance) == ('"1"', "one", 0.5)
    state = book.revisit(state, article(110.0, etag=""))
    assert (state.changed_at, state.etag, state.due) == (0.0, "", 210.0)


def test_a_changed_text_is_dated_and_one_that_is_not_found_changes_nothing() -> None:
    book = ledger()
    state = book.revisit(known(), article(60.0, "two"))
    assert (state.changed_at, state.digest) == (60.0, "two")
    state = book.revisit(state, VisitResult(70.0, relevance=0.1))
    assert (state.changed_at, state.digest) == (60.0, "two")


def test_gone_takes_two_looks_and_a_page_that_is_back_has_changed() -> None:
    book = ledger()
    once = book.failed_visit(known(), 60.0, 404)
    assert (once.misses, once.gone_at, once.due) == (1, 0.0, 67.0)
    assert book.revisit(once, article(67.0)).misses == 0
    gone = book.failed_visit(once, 67.0, 410)
    assert (gone.misses, gone.gone_at, gone.due) == (2, 67.0, 0.0)
    assert book.failed_visit(gone, 99.0, 404).gone_at == 67.0
    back = book.revisit(gone, article(120.0))
    assert (back.gone_at, back.changed_at) == (0.0, 120.0)
    assert back.due > 120.0


def test_a_hub_that_is_gone_is_still_looked_at_and_may_come_back() -> None:
    book = ledger()
    hub = book.first_visit(URL, VisitResult(10.0, hub=True))
    assert hub is not None
    gone = book.failed_visit(book.failed_visit(hub, 110.0, 404), 117.0, 404)
    assert (gone.gone_at, gone.due) == (117.0, 117.0 + 400.0)
    back = book.revisit(gone, VisitResult(517.0, hub=True))
    assert (back.gone_at, back.misses, back.due) == (0.0, 0, 617.0)


def test_a_validator_that_no_header_could_carry_is_not_kept() -> None:
    state = ledger().first_visit(URL, article(etag="x" * 5_000))
    assert state is not None
    assert state.etag == ""


def test_other_failures_are_no_loss() -> None:
    state = ledger().failed_visit(known(), 60.0, 503)
    assert (state.misses, state.gone_at) == (0, 0.0)
    assert state.due > 60.0


def test_a_hub_changes_with_its_links_and_is_credited_with_what_it_showed() -> None:
    book = ledger()
    links = tuple(f"http://a.test/{n}" for n in range(5))
    state = book.first_visit(URL, VisitResult(10.0, hub=True, links=links[:3]))
    assert state is not None
    assert offered(state, links) == 2
    same = book.revisit(state, VisitResult(110.0, links=links[2::-1]))
    assert same.changed_at == 0.0
    more = book.revisit(same, VisitResult(210.0, links=links))
    assert more.changed_at == 210.0
    rich: PageState | None = more
    for _ in range(2):
        rich = book.credit(URL, rich, VisitResult(215.0))
    assert rich is not None
    assert (rich.more["visits"]["gains"], rich.more["visits"]["visits"]) == (2.0, 3)
    assert rich.checked_at == 210.0
