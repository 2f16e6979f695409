"""HTTP API of tasks and orders. The dashboard mounts the routes, controls access and sends errors.

    GET  /api/orders/NAME           order of a crawl (its topic's slug, or task-7)
    POST /api/orders/NAME/pause     also resume, cancel
    POST /api/orders/NAME/speed     {"factor": 0.5}
    POST /api/orders/NAME/add       {"urls": ["https://a.test/news"]}: start URLs
    GET  /api/tasks                 all tasks, with their sites and workers
    POST /api/tasks                 {"spider": "topic", "arguments": {"topic": "足球"},
                                     "sites": ["sina.com.cn"], "pages": 0, "site_pages": 0,
                                     "depth": 0, "owner": ""}; only arguments and sites are required
    GET  /api/tasks/7               one task
    POST /api/tasks/7/pause         also resume, cancel, remove
    POST /api/tasks/7/speed         {"factor": 2}
    POST /api/tasks/7/assign        {"site": "a.test", "worker": "NAME"}: assign the site to a
                                     worker; "any" revokes the assignment
    GET  /api/workers               all workers, and the shards that they crawl

Responses are JSON. An invalid request gets status 400 with {"error": ...}; if the state is
unavailable, the status is 503. Requests can name topics and templates, but no files other than the
lists and engines in TOPICCRAWL_ORDER_FILES. No response contains text of a file. The sizes of
fields, names and numbers are limited.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from topiccrawl.addons.tasks.records import TaskSpec
from topiccrawl.addons.tasks.service import TaskService, seed_urls, to_json
from topiccrawl.discovery.factory import FILE_PROVIDERS
from topiccrawl.errors import ConfigurationError, StateError
from topiccrawl.links.urls import canonical
from topiccrawl.messages import message
from topiccrawl.storage.ledger import Control, parse_speed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from topiccrawl.links.addresses import AddressRules

    Handler = Callable[[web.Request], Awaitable[web.Response]]

MAX_TASKS = 1000
"""Number of tasks from which no more can be created over HTTP."""
_Number = Annotated[int, Field(ge=0, le=10**9)]
_Address = Annotated[str, Field(max_length=2000)]
_Name = Annotated[str, Field(max_length=300)]
_Argument = Annotated[str, Field(max_length=1000)]
_URLS = frozenset({"like", "include", "exclude"})
"""Arguments of topic crawls with URLs or patterns of URLs, which name no files."""
_ORDER_NAME = re.compile(r"(?!\.)[\w.:-]{1,200}")
"""A slug, ``task-7`` or ``task-7.a.test``."""
_FILE_NAME = re.compile(r"\w[\w.-]{0,99}")
"""Name of a file in TOPICCRAWL_ORDER_FILES."""


class _Body(BaseModel):
    """Fields of a request's body; their sizes are limited."""

    model_config = ConfigDict(extra="forbid", strict=True)


class _Urls(_Body):
    urls: Annotated[list[_Address], Field(max_length=100)]


class _Assignment(_Body):
    site: _Name
    worker: _Name


class _Task(_Body):
    spider: Annotated[str, Field(max_length=50)] = "topic"
    arguments: Annotated[dict[_Argument, _Argument], Field(max_length=10)] = {}
    sites: Annotated[list[_Address], Field(max_length=1000)] = []
    pages: _Number = 0
    site_pages: _Number = 0
    depth: _Number = 0
    owner: Annotated[str, Field(max_length=100)] = ""


B = TypeVar("B", bound=_Body)


def order_routes(control: Control, addresses: AddressRules) -> list[web.RouteDef]:
    """Return the routes that control crawls.

    Args:
        control: Stores the orders.
        addresses: Refuses start URLs with private addresses; the crawl checks them again.
    """

    async def act(request: web.Request) -> object:
        name, action = _name_in(request), request.match_info["action"]
        if action == "speed":
            return await control.speed(name, await factor_in(request))
        if action == "add":
            return await control.add(name, urls_in(await body_of(request), addresses))
        return await getattr(control, action)(name)

    return [
        web.get("/api/orders/{name}", _responder(lambda request: control.order(_name_in(request)))),
        web.post("/api/orders/{name}/{action:pause|resume|cancel|speed|add}", _responder(act)),
    ]


def task_routes(
    service: TaskService, addresses: AddressRules, files: str = ""
) -> list[web.RouteDef]:
    """Return the routes that create and control tasks.

    Args:
        service: Creates and controls the tasks.
        addresses: Refuses sites with private addresses.
        files: Folder of the lists and engines that requests may name; "" for none.
    """

    async def create(request: web.Request) -> object:
        spec = spec_in(await body_of(request), files)
        _refuse_private(seed_urls(spec.sites), addresses)
        if await service.count() >= MAX_TASKS:
            raise StateError(
                "there are {most_tasks} tasks: remove those that have ended", most_tasks=MAX_TASKS
            )
        return await service.create(spec)

    async def act(request: web.Request) -> object:
        task, action = request.match_info["task"], request.match_info["action"]
        if action == "speed":
            return await service.speed(task, await factor_in(request))
        return await getattr(service, action)(task)

    async def assign(request: web.Request) -> object:
        given = valid(_Assignment, await body_of(request))
        return await service.assign(request.match_info["task"], given.site, given.worker)

    return [
        web.get("/api/tasks", _responder(lambda _: service.all())),
        web.post("/api/tasks", _responder(create)),
        web.get(
            "/api/tasks/{task}",
            _responder(lambda request: service.show(request.match_info["task"])),
        ),
        web.post("/api/tasks/{task}/{action:pause|resume|cancel|speed|remove}", _responder(act)),
        web.post("/api/tasks/{task}/assign", _responder(assign)),
        web.get("/api/workers", _responder(lambda _: service.workers())),
    ]


def spec_in(body: dict[str, Any], files: str = "") -> TaskSpec:
    """Return the task specification in a request's body.

    Args:
        body: Fields by name.
        files: Folder of the lists and engines that it may name; "" for none.

    Raises:
        ConfigurationError: If a field is unknown, missing, too large or of the wrong type, or
            names a file that is not allowed.

    >>> spec_in({"arguments": {"topic": "足球"}, "sites": ["a.cn"]}).spider
    'topic'
    """
    task = valid(_Task, body)
    unchecked = _URLS if task.spider == "topic" else ()
    arguments = {
        name: value if name in unchecked else _checked_argument(name, value, files)
        for name, value in task.arguments.items()
    }
    fields = {**task.model_dump(), "arguments": arguments, "sites": tuple(task.sites)}
    return TaskSpec(**fields)


def urls_in(body: dict[str, Any], addresses: AddressRules) -> list[str]:
    """Return the start URLs in a request's body.

    Raises:
        ConfigurationError: If there are none or too many, or one has a private address.
    """
    urls = valid(_Urls, body).urls
    _refuse_private(urls, addresses)
    return urls


def _refuse_private(urls: Iterable[str], addresses: AddressRules) -> None:
    for url in urls:
        if addresses.refuses(canonical(url) or url):
            raise ConfigurationError(
                "{url!r} has a private address: see TOPICCRAWL_OWN_HOSTS", url=url
            )


def valid(kind: type[B], body: dict[str, Any]) -> B:
    """Return the fields of a request's body.

    Raises:
        ConfigurationError: If one is missing, unknown, too large or of the wrong type.
    """
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        first, *_ = error.errors(include_url=False)
        field = ".".join(map(str, first["loc"]))[:50]
        if first["type"] == "missing":
            raise ConfigurationError("the body needs {choices}", choices=field) from error
        raise ConfigurationError(
            "{field} in the body: {error}", field=field, error=first["msg"]
        ) from error


def _checked_argument(name: str, value: str, files: str) -> str:
    """Return an argument with names of lists and engines as paths; refuse other files."""
    if name == "discover":
        return ",".join(_checked_provider(spec.strip(), files) for spec in value.split(","))
    if "/" in value or "\\" in value or value.strip().lower().endswith(".toml"):
        raise ConfigurationError(
            "{name} is {value!r}, which names a file: {remedy}",
            name=name,
            value=value,
            remedy=message("over HTTP, give words or the name of a topic or template"),
        )
    return value


def _checked_provider(spec: str, files: str) -> str:
    """Return a provider with its file as a path; refuse files outside the folder."""
    kind, _, name = spec.partition(":")
    if kind.strip() in FILE_PROVIDERS:
        path = Path(files, name)
        if files and _FILE_NAME.fullmatch(name) and path.is_file() and not path.is_symlink():
            return f"{kind.strip()}:{path.absolute()}"
        remedy: object = ConfigurationError(
            "over HTTP, {kind} takes the name of a file in TOPICCRAWL_ORDER_FILES",
            kind=kind.strip(),
        )
    elif "." in kind:
        remedy = message("dotted paths are not accepted over HTTP")
    else:
        return spec
    raise ConfigurationError(
        "discover is {spec!r}, which names a file: {remedy}", spec=spec, remedy=remedy
    )


def _name_in(request: web.Request) -> str:
    """Return the name of the order in a request's path.

    Raises:
        ConfigurationError: If the name is invalid.
    """
    name = request.match_info["name"]
    if not _ORDER_NAME.fullmatch(name):
        raise ConfigurationError(
            "the name of an order may contain letters, digits and .:- only, and not begin with ."
        )
    return name


async def factor_in(request: web.Request) -> float:
    """Return the speed factor in a request's body.

    Raises:
        SettingError: If there is none.
    """
    return parse_speed((await body_of(request)).get("factor"))


async def body_of(request: web.Request) -> dict[str, Any]:
    """Parse a request's body.

    Raises:
        ConfigurationError: If the body is not a JSON object.
    """
    try:
        body = json.loads((await request.read()).decode())  # UTF-8, whatever the header declares
    except (ValueError, RecursionError) as error:  # ValueError also for numbers that are too long
        raise ConfigurationError("the body is not valid JSON: {error}", error=error) from error
    if not isinstance(body, dict):
        raise ConfigurationError("the body must be a JSON object")
    return body


def _responder(handler: Callable[[web.Request], Awaitable[object]]) -> Handler:
    """Return a handler that sends the result of another one as JSON."""

    async def respond(request: web.Request) -> web.Response:
        return web.json_response(text=to_json(await handler(request)))

    return respond
