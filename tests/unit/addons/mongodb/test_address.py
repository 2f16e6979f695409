"""Tests of a MongoDB address that cannot be used."""

from __future__ import annotations

import pytest

pytest.importorskip("pymongo", reason="the extra mongodb is not installed")

from topiccrawl.addons.mongodb.client import Server
from topiccrawl.errors import SettingError

PASSWORDS = ("hush/secret", "hush@secret", "hush:secret", "hush%zzsecret")


@pytest.mark.parametrize("scheme", ["mongodb", "mongodb+srv"])
@pytest.mark.parametrize("password", PASSWORDS)
def test_unencoded_password_is_an_error_and_not_reported(scheme: str, password: str) -> None:
    with pytest.raises(SettingError, match="MONGODB_URI") as caught:
        Server(f"{scheme}://me:{password}@a.test/news").connect()
    assert "hush" not in str(caught.value)
    assert "secret" not in str(caught.value)
