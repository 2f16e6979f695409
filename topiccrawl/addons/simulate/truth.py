"""Labelled topics: files that list the labels of relevant pages of a collection."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from topiccrawl.errors import ConfigurationError
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from pathlib import Path

Count = Annotated[int, Field(gt=0)]


class LabelledTopic(BaseModel):
    """A topic and the labels of its pages; other keys of the file are ignored.

    Attributes:
        name: Name of the topic.
        terms: Terms of the topic, with or without weights.
        seeds: Start URLs.
        relevant: Labels of relevant pages; they include sublabels (``sport.football``).
        budget: Number of judged pages; None: half of the reachable ones.
        reachable: Number of pages reachable from the seeds.
        reachable_relevant: Number of relevant pages among them.
        oracle: Number of relevant pages found by the oracle after 1, 1 + ``oracle_step``, ...
            fetches.
        oracle_step: Number of fetches between two values of ``oracle``.
        oracle_area: Sum of the oracle's counts over all fetches of the budget.
        reference: Areas of other crawlers by name.
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
        """The topic as used by a crawl."""
        terms = self.terms if isinstance(self.terms, dict) else list(self.terms)
        return Topic.model_validate({"name": self.name, "terms": terms, "seeds": self.seeds})


def read_truth(path: Path) -> dict[str, LabelledTopic]:
    """Return the topics of a file by name, in file order.

    Raises:
        ConfigurationError: If the file is invalid; with file, field and error.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        found = TypeAdapter(list[LabelledTopic]).validate_python(values)
        for labelled in found:
            _ = labelled.topic
    except OSError as error:
        raise ConfigurationError(
            "{path}: cannot be read: {strerror}; pass a *.topics.json file",
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
        raise ConfigurationError("{path}: is not JSON: {error}", path=path, error=error) from error
    return {labelled.name: labelled for labelled in found}
