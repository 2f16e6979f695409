"""What is said where a file cannot be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from topiccrawl.errors import ConfigurationError
from topiccrawl.stores import formats
from topiccrawl.stores.export import FORMATS
from topiccrawl.stores.formats import writing

if TYPE_CHECKING:
    from pathlib import Path


def test_a_missing_extra_is_said_of_the_file_that_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "find_spec", lambda _: None)
    path = tmp_path / "all.parquet"
    told = pytest.raises(ConfigurationError, match=r"/all\.parquet: needs pyarrow: pip install")
    with told, writing(str(path), FORMATS):
        raise AssertionError
    assert list(tmp_path.iterdir()) == []
