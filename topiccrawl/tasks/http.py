"""The same by HTTP: routes that a server mounts; who may call them is the server's business.

    GET  /api/orders/NAME           what is wanted of a crawl (its topic's slug, or task-7)
    POST /api/orders/NAME/pause     and resume, cancel
    POST /api/orders/NAME/speed     {"factor": 0.5}

Answers are JSON; a wrong request is 400 with {"error": ...}, state that is away 503.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import wraps
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

from aiohttp import web

from topiccrawl.errors import ConfigurationError, StateError, StorageError
from topiccrawl.tasks.control import speed_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from topiccrawl.tasks.contract import Steering

    Handler = Callable[[web.Request], Awaitable[web.Response]]


def order_routes(steering: Steering) -> list[web.RouteDef]:
    """Return the routes that steer crawls."""

    @_told
    async def show(request: web.Request) -> object:
        return asdict(await steering.order(request.match_info["name"]))

    @_told
    async def act(request: web.Request) -> object:
        name, action = request.match_info["name"], request.match_info["action"]
        if action == "speed":
            return asdict(await steering.speed(name, await factor_in(request)))
        simple = {"pause": steering.pause, "resume": steering.resume, "cancel": steering.cancel}
        return asdict(await simple[action](name))

    return [
        web.get("/api/orders/{name}", show),
        web.post("/api/orders/{name}/{action:pause|resume|cancel|speed}", act),
    ]


async def factor_in(request: web.Request) -> float:
    """The speed that a request's body names.

    Raises:
        SettingError: If it names none.
    """
    return speed_of((await body_of(request)).get("factor"))


async def body_of(request: web.Request) -> dict[str, Any]:
    """A request's body, which must be a JSON object.

    Raises:
        ConfigurationError: If it is none.
    """
    try:
        found = await request.json()
    except (JSONDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"the body is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ConfigurationError("the body must be a JSON object")
    return found


def _told(handler: Callable[[web.Request], Awaitable[object]]) -> Handler:
    """Answer with what a handler returns as JSON, and with what went wrong."""

    @wraps(handler)
    async def answer(request: web.Request) -> web.Response:
        try:
            return web.json_response(await handler(request))
        except (ConfigurationError, StateError) as error:
            return web.json_response({"error": str(error)}, status=400)
        except StorageError as error:
            return web.json_response({"error": str(error)}, status=503)

    return answer
