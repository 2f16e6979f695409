"""Access control of the dashboard.

Each request is checked by these rules, in this order:

1. A request without the token gets status 401. If the token is switched off, only requests from
   loopback addresses that were not forwarded by a proxy are accepted; others get 401.
2. A ``Host`` header that is not a name of this server gets 421, which prevents DNS rebinding (a
   foreign name that resolves to this address).
3. A request that changes anything must come from the dashboard's own page or from a program. It
   needs the header ``X-Topiccrawl``, which other sites cannot send without a preflight, and its
   ``Origin`` header, if any, must be this server. Otherwise it gets 403.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import secrets
from typing import TYPE_CHECKING

from aiohttp import web

from topiccrawl.addons.dashboard.address import Address, ip_address, is_loopback

if TYPE_CHECKING:
    from aiohttp.typedefs import Handler
    from scrapy.settings import BaseSettings

COOKIE = "topiccrawl"
"""Prefix of the cookie with the token; the port follows, as browsers send cookies to all ports."""
HEADER = "X-Topiccrawl"
"""Header of requests that change anything."""
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
BODY_TIMEOUT = 30.0
"""Maximum time for receiving the body of a request, in seconds."""
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via")
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_YEAR = 31_536_000


class Guard:
    """Checks each request by the rules of this module.

    Args:
        address: Address that the server listens on.
        token: Token that clients must send; "" accepts loopback clients without a token and
            refuses all others.
        names: Host names of the server in addition to its addresses.
        shown: Whether the log may show the token: true if it was generated for this run, false if
            the operator set it.
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
        """Handle or refuse a request; add the security headers to the response."""
        response = self._refusal(request)
        if response is None:
            try:
                response = await _read_body(request) or await handler(request)
            except web.HTTPException as error:
                error.headers.update(HEADERS)
                raise
        if not response.prepared:
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)  # an archived page has a stricter policy
        return response

    def enter(self, request: web.Request) -> web.StreamResponse:
        """Set the cookie and redirect to the page, after a request with the right token."""
        response = web.Response(status=303, headers={"Location": "./"})
        response.set_cookie(
            self.cookie, self.token, max_age=_YEAR, httponly=True, samesite="Strict",
            path="",  # the path as the browser sees it, which a proxy may have removed
            secure=request.secure or request.headers.get("X-Forwarded-Proto") == "https",
        )  # fmt: skip
        return response

    def _refusal(self, request: web.Request) -> web.StreamResponse | None:
        enters = "token" in request.query and request.method == "GET" and request.path == "/"
        if enters and not self._is_token(request.query["token"]):
            return _refusal_response(401, "the token is wrong")
        if not enters and not self._is_authorized(request):
            return _refusal_response(
                401, "a token is needed: open the URL in the log, or /?token=TOKEN, once"
            )
        if not self._is_known_host(request.headers.get("Host", "")):
            return _refusal_response(421, "unknown host name: add it to TOPICCRAWL_DASHBOARD_NAMES")
        if enters:
            return self.enter(request)
        if request.method not in SAFE and not self._is_same_origin(request):
            why = f"cross-site request, or {HEADER} is missing, or a proxy does not pass on Host"
            return _refusal_response(403, why)
        return None

    def _is_known_host(self, header: str) -> bool:
        name = _host_of(header)
        if name in _LOCAL or name in self._names:
            return True
        return not self.address.local and ip_address(name) is not None

    def _is_authorized(self, request: web.Request) -> bool:
        if self.token:
            bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
            return self._is_token(bearer) or self._is_token(request.cookies.get(self.cookie, ""))
        forwarded = any(name in request.headers for name in _FORWARDED)
        return not forwarded and is_loopback(request.remote or "")

    def _is_same_origin(self, request: web.Request) -> bool:
        headers = request.headers
        origin = headers.get("Origin")
        if HEADER not in headers or headers.get("Sec-Fetch-Site", "none") not in _SAME_SITE:
            return False
        own = headers["Host"].lower()
        return origin is None or origin.lower().partition("://")[2] == own

    def _is_token(self, token: str) -> bool:
        given = token.encode(errors="surrogateescape")  # a header may hold any bytes
        return bool(self.token) and hmac.compare_digest(given, self.token.encode())


_SAME_SITE = frozenset({"same-origin", "none"})


def guard_of(settings: BaseSettings, address: Address) -> Guard:
    """Return the access control; generate a token if none is set and tokens are not off."""
    name = "TOPICCRAWL_DASHBOARD_TOKEN"
    token = str(settings.get(name) or os.environ.get(name) or "")
    names = settings.getlist("TOPICCRAWL_DASHBOARD_NAMES")
    names += os.environ.get("TOPICCRAWL_DASHBOARD_NAMES", "").split(",")
    if token.lower() == "off":
        return Guard(address, "", (*names,))
    return Guard(address, token or secrets.token_urlsafe(24), (*names,), shown=not token)


async def _read_body(request: web.Request) -> web.Response | None:
    """Read the body, so that handlers need not wait; return a refusal if it is not complete."""
    try:
        async with asyncio.timeout(BODY_TIMEOUT):
            await request.read()
    except TimeoutError:
        return _refusal_response(408, "timeout while reading the body")
    except (web.RequestPayloadError, ConnectionError):
        return _refusal_response(400, "the body cannot be read")
    return None


def _refusal_response(status: int, why: str) -> web.Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == web.HTTPUnauthorized.status_code else {}
    return web.Response(status=status, text=f"{why}\n", headers=headers)


def _host_of(header: str) -> str:
    """Return the host of a Host header.

    >>> _host_of("[::1]:8420"), _host_of("LOCALHOST:1"), _host_of("a.test")
    ('::1', 'localhost', 'a.test')
    """
    name = header.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0]
