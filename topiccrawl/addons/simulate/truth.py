"""Topics whose relevant pages are known: a file beside a labelled collection."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from topiccrawl.errors import ConfigurationError
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from pathlib import Path

Count = Annotated[int, Field(gt=0)]


class Labelled(BaseModel):
    """A topic and the labels of its pages; other keys of the file are ignored.

    Attributes:
        name: The topic's.
        terms: Its terms, with or without weights.
        seeds: Start URLs.
        relevant: Labels of relevant pages; those below them (``sport.football``) count, too.
        budget: Pages that are judged, None for half of the reachable ones.
        reachable: Pages that links lead to from the seeds.
        reachable_relevant: Relevant ones among them.
        oracle: The oracle's relevant pages after 1, 1 + ``oracle_step``, ... fetches.
        oracle_step: See there.
        oracle_area: Sum of all its counts over the budget.
        reference: Areas of other crawlers.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    terms: dict[str, float] | tuple[str, ...]
    seeds: Annotated[tuple[str, ...], Field(min_length=1)]
    relevant: tuple[str, ...]
    budget: Count | None = None
    reachable: Count | None = None
    reachable_relevant: int | None = None
    oracle: tuple[int, ...] = ()
    oracle_step: Count = 1
    oracle_area: Annotated[float, Field(gt=0)] | None = None
    reference: dict[str, float] = {}

    @property
    def topic(self) -> Topic:
        """The topic of a crawl for it."""
        return Topic.model_validate(
            {
                "name": self.name,
                "terms": self.terms if isinstance(self.terms, dict) else list(self.terms),
                "seeds": self.seeds,
            }
        )


def read_truth(path: Path) -> dict[str, Labelled]:
    """Return the topics of a file by name, in its order.

    Raises:
        ConfigurationError: If it cannot be used; names file, field and what is wrong.
    """
    try:
        found = TypeAdapter(list[Labelled]).validate_python(
            json.loads(path.read_text(encoding="utf-8"))
        )
        for labelled in found:
            _ = labelled.topic
    except OSError as error:
        raise ConfigurationError(
            "{path}: cannot be read: {strerror}; give a *.topics.json file",
            path=path,
            strerror=error.strerror,
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigurationError(
            "{path}: {where}: {msg}", path=path, where=where, msg=first["msg"]
        ) from error
    except ValueError as error:
        raise ConfigurationError("{path}: is no JSON: {error}", path=path, error=error) from error
    return {labelled.name: labelled for labelled in found}
