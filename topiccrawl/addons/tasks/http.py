"""Tasks over HTTP: routes that the dashboard mounts; it controls access to them.

    GET  /api/orders/NAME           order of a crawl (its topic's slug, or task-7)
    POST /api/orders/NAME/pause     and resume, cancel
    POST /api/orders/NAME/speed     {"factor": 0.5}
    GET  /api/tasks                 all tasks, with their sites and workers
    POST /api/tasks                 {"spider": "topic", "arguments": {"topic": "足球"},
                                     "sites": ["sina.com.cn"], "pages": 0, "site_pages": 0,
                                     "depth": 0, "owner": ""}; only arguments and sites are required
    GET  /api/tasks/7               one task
    POST /api/tasks/7/pause         and resume, cancel, remove
    POST /api/tasks/7/speed         {"factor": 2}
    GET  /api/workers               all workers, and the shards that they crawl

Responses are JSON. A wrong request gets 400 with {"error": ...}, unavailable state 503. A request
names no files (topics and templates by name only), and no response contains text of one.
"""

from __future__ import annotations

import logging
from dataclasses import asdict
from functools import wraps
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

from aiohttp import web

from topiccrawl.addons.tasks.records import Wish
from topiccrawl.discovery.choice import FROM_FILES
from topiccrawl.errors import ConfigurationError, StateError, StorageError
from topiccrawl.storage.control import speed_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from topiccrawl.addons.tasks.desk import Desk
    from topiccrawl.storage.ledger import Steering

    Handler = Callable[[web.Request], Awaitable[web.Response]]

logger = logging.getLogger(__name__)


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


def task_routes(desk: Desk) -> list[web.RouteDef]:
    """Return the routes that make and steer tasks."""

    @_told
    async def every(_: web.Request) -> object:
        return [asdict(state) for state in await desk.all()]

    @_told
    async def workers(_: web.Request) -> object:
        return [asdict(state) for state in await desk.workers()]

    @_told
    async def create(request: web.Request) -> object:
        return asdict(await desk.create(wish_in(await body_of(request))))

    @_told
    async def show(request: web.Request) -> object:
        return asdict(await desk.show(request.match_info["task"]))

    @_told
    async def act(request: web.Request) -> object:
        task, action = request.match_info["task"], request.match_info["action"]
        if action == "speed":
            return asdict(await desk.speed(task, await factor_in(request)))
        if action == "remove":
            await desk.remove(task)
            return {}
        simple = {"pause": desk.pause, "resume": desk.resume, "cancel": desk.cancel}
        return asdict(await simple[action](task))

    return [
        web.get("/api/tasks", every),
        web.post("/api/tasks", create),
        web.get("/api/tasks/{task}", show),
        web.post("/api/tasks/{task}/{action:pause|resume|cancel|speed|remove}", act),
        web.get("/api/workers", workers),
    ]


def wish_in(body: dict[str, Any]) -> Wish:
    """Return the wish in a request's body.

    Raises:
        ConfigurationError: A field is unknown, missing or of another type, or names a file.

    >>> wish_in({"arguments": {"topic": "足球"}, "sites": ["a.cn"]}).spider
    'topic'
    """
    kinds = {"spider": str, "pages": int, "site_pages": int, "depth": int, "owner": str}
    for name, value in body.items():
        kind = kinds.get(name, dict if name == "arguments" else list)
        if name not in {*kinds, "arguments", "sites"} or type(value) is not kind:
            raise ConfigurationError(f"the body's {name} is {value!r}, which is not understood")
    arguments, sites = body.get("arguments", {}), body.get("sites", [])
    if not all(isinstance(text, str) for text in [*arguments.values(), *sites]):
        raise ConfigurationError("sites and the values of arguments must be texts")
    for name, value in arguments.items():
        _refuse_file(name, value)
    given = {"spider": "topic", **body, "arguments": arguments, "sites": tuple(sites)}
    return Wish(**given)


def _refuse_file(name: str, value: str) -> None:
    """Refuse an argument that names a file of this machine; providers have URLs with separators."""
    if name == "discover":
        names = [spec.partition(":")[0].strip() for spec in value.split(",")]
        used = any(name in FROM_FILES or "." in name for name in names)
        remedy = f"over HTTP there is no {', no '.join(sorted(FROM_FILES))} and no dotted path"
    else:
        used = "/" in value or "\\" in value or value.strip().lower().endswith(".toml")
        remedy = "over HTTP write words, or the name of a topic or template"
    if used:
        raise ConfigurationError(f"{name} is {value!r}, which names a file: {remedy}")


async def factor_in(request: web.Request) -> float:
    """Return the speed in a request's body.

    Raises:
        SettingError: If it has none.
    """
    return speed_of((await body_of(request)).get("factor"))


async def body_of(request: web.Request) -> dict[str, Any]:
    """Return a request's body, which must be a JSON object.

    Raises:
        ConfigurationError: If it is no JSON object.
    """
    try:
        found = await request.json()
    except (JSONDecodeError, UnicodeDecodeError, LookupError, RecursionError) as error:
        raise ConfigurationError(f"the body is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ConfigurationError("the body must be a JSON object")
    return found


def _told(handler: Callable[[web.Request], Awaitable[object]]) -> Handler:
    """Respond with the result of a handler as JSON, or with its error."""

    @wraps(handler)
    async def answer(request: web.Request) -> web.Response:
        try:
            return web.json_response(await handler(request))
        except (ConfigurationError, StateError) as error:
            if error.public != str(error):
                logger.warning("%s %s: %s", request.method, request.path, error)
            return web.json_response({"error": error.public}, status=400)
        except StorageError as error:
            return web.json_response({"error": error.public}, status=503)

    return answer
