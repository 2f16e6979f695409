"""Tasks over HTTP: routes that the dashboard mounts; it controls access to them.

    GET  /api/orders/NAME           order of a crawl (its topic's slug, or task-7)
    POST /api/orders/NAME/pause     and resume, cancel
    POST /api/orders/NAME/speed     {"factor": 0.5}
    POST /api/orders/NAME/add       {"urls": ["https://a.test/news"]}: start URLs
    GET  /api/tasks                 all tasks, with their sites and workers
    POST /api/tasks                 {"spider": "topic", "arguments": {"topic": "足球"},
                                     "sites": ["sina.com.cn"], "pages": 0, "site_pages": 0,
                                     "depth": 0, "owner": ""}; only arguments and sites are required
    GET  /api/tasks/7               one task
    POST /api/tasks/7/pause         and resume, cancel, remove
    POST /api/tasks/7/speed         {"factor": 2}
    POST /api/tasks/7/assign        {"site": "a.test", "worker": "NAME"}: who takes it over; any
    GET  /api/workers               all workers, and the shards that they crawl

Responses are JSON. A wrong request gets 400 with {"error": ...}, unavailable state 503. A request
names no files but lists and engines in TOPICCRAWL_ORDER_FILES (topics and templates by name only),
and no response contains text of one. Fields, names and numbers are bounded.
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiohttp import web

from topiccrawl.addons.tasks.records import Wish
from topiccrawl.discovery.factory import FILE_PROVIDERS
from topiccrawl.errors import ConfigurationError, StateError, StorageError
from topiccrawl.links.urls import canonical
from topiccrawl.messages import message
from topiccrawl.storage.control import parse_speed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from topiccrawl.addons.tasks.desk import Desk, TaskState
    from topiccrawl.links.addresses import AddressRules
    from topiccrawl.storage.control import Control

    Handler = Callable[[web.Request], Awaitable[web.Response]]

logger = logging.getLogger(__name__)

MOST_TASKS = 1000
"""Tasks that may exist when one more is made over HTTP."""
_LONGEST = {
    "spider": 50, "owner": 100, "sites": 2000, "arguments": 1000, "urls": 2000, "site": 300,
    "worker": 300,
}  # fmt: skip
"""Characters of a field's texts."""
_MOST = {"sites": 1000, "arguments": 10, "urls": 100}
"""Entries of a field."""
_LARGEST = 10**9
"""Of numbers."""
_ORDER = re.compile(r"[\w.:-]{1,200}")
"""Name of an order: a slug, ``task-7``, ``task-7.a.test``."""
_FILE = re.compile(r"\w[\w.-]{0,99}")
"""Name of a file in TOPICCRAWL_ORDER_FILES."""


def order_routes(control: Control, addresses: AddressRules) -> list[web.RouteDef]:
    """Return the routes that steer crawls.

    Args:
        control: Takes the orders.
        addresses: Refuses start URLs of private addresses; the crawl does once more.
    """

    @_told
    async def show(request: web.Request) -> object:
        return asdict(await control.order(_name_in(request)))

    @_told
    async def act(request: web.Request) -> object:
        name, action = _name_in(request), request.match_info["action"]
        if action == "speed":
            return asdict(await control.speed(name, await factor_in(request)))
        if action == "add":
            return asdict(await control.add(name, urls_in(await body_of(request), addresses)))
        simple = {"pause": control.pause, "resume": control.resume, "cancel": control.cancel}
        return asdict(await simple[action](name))

    return [
        web.get("/api/orders/{name}", show),
        web.post("/api/orders/{name}/{action:pause|resume|cancel|speed|add}", act),
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
    async def assign(request: web.Request) -> object:
        given = fields_in(await body_of(request), {"site": str, "worker": str})
        return asdict(await desk.assign(request.match_info["task"], **given))

    @_told
    async def act(request: web.Request) -> object:
        task, action = request.match_info["task"], request.match_info["action"]
        if action == "speed":
            return asdict(await desk.speed(task, await factor_in(request)))
        simple = {
            "pause": desk.pause, "resume": desk.resume, "cancel": desk.cancel,
            "remove": desk.remove,
        }  # fmt: skip
        return _shown(await simple[action](task))

    return [
        web.get("/api/tasks", every),
        web.post("/api/tasks", create),
        web.get("/api/tasks/{task}", show),
        web.post("/api/tasks/{task}/{action:pause|resume|cancel|speed|remove}", act),
        web.post("/api/tasks/{task}/assign", assign),
        web.get("/api/workers", workers),
    ]


def _shown(state: TaskState | None) -> object:
    return {} if state is None else asdict(state)


async def _refuse_too_many(desk: Desk) -> None:
    if await desk.count() >= MOST_TASKS:
        raise StateError(
            "there are {most_tasks} tasks: remove those that are over", most_tasks=MOST_TASKS
        )


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
    known = {"spider": str, "pages": int, "site_pages": int, "depth": int, "owner": str,
             "arguments": dict, "sites": list}  # fmt: skip
    checked(body, known)
    arguments, sites = body.get("arguments", {}), body.get("sites", [])
    arguments = {name: _without_files(name, value, files) for name, value in arguments.items()}
    given = {"spider": "topic", **body, "arguments": arguments, "sites": tuple(sites)}
    return Wish(**given)


def urls_in(body: dict[str, Any], addresses: AddressRules) -> list[str]:
    """Return the start URLs in a request's body.

    Raises:
        ConfigurationError: It has none, too many, or one of a private address.
    """
    urls: list[str] = fields_in(body, {"urls": list})["urls"]
    for url in urls:
        if addresses.refuses(canonical(url) or url):
            raise ConfigurationError(
                "{url!r} has a private address: see TOPICCRAWL_OWN_HOSTS", url=url
            )
    return urls


def fields_in(body: dict[str, Any], kinds: dict[str, type]) -> dict[str, Any]:
    """Return the fields of a request's body, all of which are needed; raises as ``checked``."""
    if missing := kinds.keys() - body.keys():
        raise ConfigurationError("the body needs {choices}", choices=", ".join(sorted(missing)))
    checked(body, kinds)
    return body


def checked(body: dict[str, Any], kinds: dict[str, type]) -> None:
    """Check the fields of a request's body.

    Raises:
        ConfigurationError: One is unknown, too large or of another type.
    """
    for name, value in body.items():
        if type(value) is not kinds.get(name):
            raise ConfigurationError("the body's {value} is not understood", value=name[:50])
        _bound(name, value)


def _bound(field: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Refuse a field with too many entries, too long texts or too large a number."""
    if isinstance(value, int):
        if value > _LARGEST:
            raise ConfigurationError(
                "{field} is more than {largest}", field=field, largest=_LARGEST
            )
        return
    texts = [value] if isinstance(value, str) else [*value]
    if isinstance(value, dict):
        texts += value.values()
    if not all(isinstance(text, str) for text in texts):
        raise ConfigurationError("{field} must hold texts", field=field)
    if not isinstance(value, str) and len(value) > _MOST[field]:
        raise ConfigurationError(
            "{field} has more than {value} entries", field=field, value=_MOST[field]
        )
    if max(map(len, texts), default=0) > _LONGEST[field]:
        raise ConfigurationError(
            "{field} has a text of more than {value} characters", field=field, value=_LONGEST[field]
        )


def _without_files(name: str, value: str, files: str) -> str:
    """Return an argument, lists and engines as paths in the folder; refuse other files."""
    if name == "discover":
        return ",".join(_provider(spec.strip(), files) for spec in value.split(","))
    if "/" in value or "\\" in value or value.strip().lower().endswith(".toml"):
        remedy = message("over HTTP write words, or the name of a topic or template")
        raise ConfigurationError(
            "{name} is {value!r}, which names a file: {remedy}",
            name=name,
            value=value,
            remedy=remedy,
        )
    return value


def _provider(spec: str, files: str) -> str:
    """Return a provider as it may be used; other kinds have URLs with separators."""
    kind, _, name = spec.partition(":")
    if kind.strip() in FILE_PROVIDERS:
        path = Path(files, name)
        if files and _FILE.fullmatch(name) and path.is_file() and not path.is_symlink():
            return f"{kind.strip()}:{path.absolute()}"
        remedy: object = ConfigurationError(
            "over HTTP {kind} takes the name of a file in TOPICCRAWL_ORDER_FILES",
            kind=kind.strip(),
        )
    elif "." in kind:
        remedy = message("over HTTP there is no dotted path")
    else:
        return spec
    raise ConfigurationError(
        "discover is {spec!r}, which names a file: {remedy}", spec=spec, remedy=remedy
    )


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
    return parse_speed((await body_of(request)).get("factor"))


async def body_of(request: web.Request) -> dict[str, Any]:
    """Return a request's body, which must be a JSON object.

    Raises:
        ConfigurationError: If it is no JSON object.
    """
    try:
        found = json.loads((await request.read()).decode())  # UTF-8, whatever is declared
    except (ValueError, RecursionError) as error:  # also of too many digits
        raise ConfigurationError("the body is no JSON: {error}", error=error) from error
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
