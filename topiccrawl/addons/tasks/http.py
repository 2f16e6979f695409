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
names no files but lists and engines in TOPICCRAWL_ORDER_FILES (topics and templates by name only),
and no response contains text of one. Fields, names and numbers are bounded.
"""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import asdict
from functools import wraps
from pathlib import Path
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

MOST_TASKS = 1000
"""Tasks that may exist when one more is made over HTTP."""
PATIENCE = 30.0
"""Seconds that a request's body may take."""
_LONGEST = {"spider": 50, "owner": 100, "sites": 2000, "arguments": 1000}
"""Characters of a field's texts."""
_MOST = {"sites": 1000, "arguments": 10}
"""Entries of a field."""
_LARGEST = 10**9
"""Of numbers."""
_ORDER = re.compile(r"[\w.:-]{1,200}")
"""Name of an order: a slug, ``task-7``, ``task-7.a.test``."""
_FILE = re.compile(r"\w[\w.-]{0,99}")
"""Name of a file in TOPICCRAWL_ORDER_FILES."""


def order_routes(steering: Steering) -> list[web.RouteDef]:
    """Return the routes that steer crawls."""

    @_told
    async def show(request: web.Request) -> object:
        return asdict(await steering.order(_name_in(request)))

    @_told
    async def act(request: web.Request) -> object:
        name, action = _name_in(request), request.match_info["action"]
        if action == "speed":
            return asdict(await steering.speed(name, await factor_in(request)))
        simple = {"pause": steering.pause, "resume": steering.resume, "cancel": steering.cancel}
        return asdict(await simple[action](name))

    return [
        web.get("/api/orders/{name}", show),
        web.post("/api/orders/{name}/{action:pause|resume|cancel|speed}", act),
    ]


def task_routes(desk: Desk, files: str = "") -> list[web.RouteDef]:
    """Return the routes that make and steer tasks.

    Args:
        desk: Makes and steers them.
        files: Folder of the lists and engines that orders may name; "" for none.
    """

    @_told
    async def every(_: web.Request) -> object:
        return [asdict(state) for state in await desk.all()]

    @_told
    async def workers(_: web.Request) -> object:
        return [asdict(state) for state in await desk.workers()]

    @_told
    async def create(request: web.Request) -> object:
        wish = wish_in(await body_of(request), files)
        await _refuse_too_many(desk)
        return asdict(await desk.create(wish))

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


async def _refuse_too_many(desk: Desk) -> None:
    if await desk.count() >= MOST_TASKS:
        raise StateError(f"there are {MOST_TASKS} tasks: remove those that are over")


def wish_in(body: dict[str, Any], files: str = "") -> Wish:
    """Return the wish in a request's body.

    Args:
        body: Fields by name.
        files: Folder of the lists and engines that it may name; "" for none.

    Raises:
        ConfigurationError: A field is unknown, missing, too large or of another type, or names a
            file that is not allowed.

    >>> wish_in({"arguments": {"topic": "足球"}, "sites": ["a.cn"]}).spider
    'topic'
    """
    kinds = {"spider": str, "pages": int, "site_pages": int, "depth": int, "owner": str,
             "arguments": dict, "sites": list}  # fmt: skip
    for name, value in body.items():
        if type(value) is not kinds.get(name):
            raise ConfigurationError(f"the body's {name[:50]} is not understood")
        _bound(name, value)
    arguments, sites = body.get("arguments", {}), body.get("sites", [])
    arguments = {name: _without_files(name, value, files) for name, value in arguments.items()}
    given = {"spider": "topic", **body, "arguments": arguments, "sites": tuple(sites)}
    return Wish(**given)


def _bound(field: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Refuse a field with too many entries, too long texts or too large a number."""
    if isinstance(value, int):
        if value > _LARGEST:
            raise ConfigurationError(f"{field} is more than {_LARGEST}")
        return
    texts = [value] if isinstance(value, str) else [*value]
    if isinstance(value, dict):
        texts += value.values()
    if not all(isinstance(text, str) for text in texts):
        raise ConfigurationError("sites and the values of arguments must be texts")
    if not isinstance(value, str) and len(value) > _MOST[field]:
        raise ConfigurationError(f"{field} has more than {_MOST[field]} entries")
    if max(map(len, texts), default=0) > _LONGEST[field]:
        raise ConfigurationError(f"{field} has a text of more than {_LONGEST[field]} characters")


def _without_files(name: str, value: str, files: str) -> str:
    """Return an argument, lists and engines as paths in the folder; refuse other files."""
    if name == "discover":
        return ",".join(_provider(spec.strip(), files) for spec in value.split(","))
    if "/" in value or "\\" in value or value.strip().lower().endswith(".toml"):
        remedy = "over HTTP write words, or the name of a topic or template"
        raise ConfigurationError(f"{name} is {value!r}, which names a file: {remedy}")
    return value


def _provider(spec: str, files: str) -> str:
    """Return a provider as it may be used; other kinds have URLs with separators."""
    kind, _, name = spec.partition(":")
    if kind.strip() in FROM_FILES:
        path = Path(files, name)
        if files and _FILE.fullmatch(name) and path.is_file() and not path.is_symlink():
            return f"{kind.strip()}:{path.absolute()}"
        remedy = f"over HTTP {kind.strip()} takes the name of a file in TOPICCRAWL_ORDER_FILES"
    elif "." in kind:
        remedy = "over HTTP there is no dotted path"
    else:
        return spec
    raise ConfigurationError(f"discover is {spec!r}, which names a file: {remedy}")


def _name_in(request: web.Request) -> str:
    """Return the name of the order in a request's path.

    Raises:
        ConfigurationError: It cannot be one.
    """
    name = request.match_info["name"]
    if not _ORDER.fullmatch(name):
        raise ConfigurationError("the name of an order has letters, digits and .:- only")
    return name


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
        async with asyncio.timeout(PATIENCE):
            found = await request.json()
    except TimeoutError as error:
        raise web.HTTPRequestTimeout from error
    except (ValueError, LookupError, RecursionError) as error:  # also of too many digits
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
