"""Small recorded webs, written by hand."""

from __future__ import annotations

from topiccrawl.addons.simulate.collection import Recorded, RecordedWeb

HTML = (("Content-Type", "text/html; charset=utf-8"),)
SITE = "http://a.test"


def page(path: str, text: str, *links: str, marks: tuple[str, ...] = ()) -> Recorded:
    """A page whose links have their own URL's last part as anchor."""
    anchors = " ".join(
        f'<p>see <a href="{link}">{link.rpartition("/")[2]}</a></p>' for link in links
    )
    body = f"<title>{text[:20]}</title><body><p>{text}</p>{anchors}".encode()
    return Recorded(f"{SITE}{path}", 200, HTML, body, marks)


def answer(path: str, status: int = 200, body: str = "", **headers: str) -> Recorded:
    """Any other answer."""
    return Recorded(f"{SITE}{path}", status, tuple(headers.items()), body.encode())


def web(*pages: Recorded) -> RecordedWeb:
    """A web of these pages."""
    return RecordedWeb(pages)
