"""Access control of the page: a token for all, unless it is switched off for loopback.

Each request is checked by these rules, in this order:

1. Without the token nothing but 401 is answered. Where there is none, other addresses and requests
   that a proxy passed on get 401.
2. A ``Host`` that is no name of this server is refused (421): a foreign name that resolves to
   this address (DNS rebinding) gives no access.
3. A request that changes anything must come from our own page or from a program: it needs a
   header that no foreign page can send without a preflight (``X-Topiccrawl``), and no ``Origin``
   but our own.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aiohttp import web

from topiccrawl.addons.dashboard.address import Address, is_loopback

if TYPE_CHECKING:
    from aiohttp.typedefs import Handler


COOKIE = "topiccrawl"
"""Name of the cookie that holds the token, before the port: browsers send cookies to all ports."""
HEADER = "X-Topiccrawl"
"""Sent with everything that changes something."""
SAFE = frozenset({"GET", "HEAD"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
PATIENCE = 30.0
"""Seconds that a request's body may take."""
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via")
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_YEAR = 31_536_000


class Guard:
    """Checks each request; see the module's text.

    Args:
        address: Address that the server listens on.
        token: Token that all clients have to send; "" lets loopback in without one, and other
            addresses never.
        names: Host names of the server besides its addresses.
        shown: Whether the log may show the token: true for one generated for this run, false for
            one that the operator keeps.
    """

    def __init__(
        self, address: Address, token: str = "", names: tuple[str, ...] = (), *, shown: bool = False
    ) -> None:
        self.address = address
        self.token = token
        self.shown = shown
        self._names = {name.lower().strip() for name in names if name.strip()}

    @property
    def cookie(self) -> str:
        """Name of this server's cookie."""
        return f"{COOKIE}-{self.address.port}"

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer or refuse a request; each response gets the security headers."""
        response = self._refusal(request)
        if response is None:
            try:
                response = await _late(request) or await handler(request)
            except web.HTTPException as error:
                error.headers.update(HEADERS)
                raise
        if not response.prepared:
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)  # an archived page has a stricter policy
        return response

    def enter(self, request: web.Request) -> web.StreamResponse:
        """The answer to a link that carries the right token: a cookie, and the page without it."""
        response = web.Response(status=303, headers={"Location": "/"})
        response.set_cookie(
            self.cookie, self.token, max_age=_YEAR, httponly=True, samesite="Strict",
            secure=request.secure or request.headers.get("X-Forwarded-Proto") == "https",
        )  # fmt: skip
        return response

    def _refusal(self, request: web.Request) -> web.StreamResponse | None:
        enters = "token" in request.query and request.method == "GET" and request.path == "/"
        if enters and not self._knows(request.query["token"]):
            return _refused(401, "the token is not right")
        if not enters and not self._may_see(request):
            return _refused(
                401, "a token is needed: open the URL in the log, or /?token=TOKEN, once"
            )
        if not self._is_ours(request.headers.get("Host", "")):
            return _refused(421, "this server does not go by that name")
        if enters:
            return self.enter(request)
        if request.method not in SAFE and not self._may_act(request):
            return _refused(403, f"not from here: send {HEADER}, and from no other page")
        return None

    def _is_ours(self, header: str) -> bool:
        name = _name_of(header)
        if name in _LOCAL or name in self._names:
            return True
        return not self.address.local and _is_address(name)

    def _may_see(self, request: web.Request) -> bool:
        if self.token:
            bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
            return self._knows(bearer) or self._knows(request.cookies.get(self.cookie, ""))
        forwarded = any(name in request.headers for name in _FORWARDED)
        return not forwarded and is_loopback(request.remote or "")

    def _may_act(self, request: web.Request) -> bool:
        headers = request.headers
        origin = headers.get("Origin")
        if HEADER not in headers or headers.get("Sec-Fetch-Site", "none") not in _SAME:
            return False
        return origin is None or urlsplit(origin).netloc.lower() == headers["Host"].lower()

    def _knows(self, token: str) -> bool:
        given = token.encode(errors="surrogateescape")  # a header may hold any bytes
        return bool(self.token) and hmac.compare_digest(given, self.token.encode())


_SAME = frozenset({"same-origin", "none"})


async def _late(request: web.Request) -> web.Response | None:
    """Read the body, which handlers find read; return a refusal if it does not come."""
    try:
        async with asyncio.timeout(PATIENCE):
            await request.read()
    except TimeoutError:
        return _refused(408, "the body takes too long")
    return None


def _refused(status: int, why: str) -> web.Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == web.HTTPUnauthorized.status_code else {}
    return web.Response(status=status, text=f"{why}\n", headers=headers)


def _name_of(header: str) -> str:
    """The host in a Host header.

    >>> _name_of("[::1]:8420"), _name_of("LOCALHOST:1"), _name_of("a.test")
    ('::1', 'localhost', 'a.test')
    """
    name = header.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
