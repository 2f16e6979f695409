"""Tests of private hosts and addresses in all of their spellings."""

from __future__ import annotations

import pytest

from topiccrawl.links.addresses import AddressRules, is_private

PRIVATE = [
    "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "127.0.0.1.",
    "１２７。0。0。1", "0", "0.0.0.0", "localhost", "LOCALHOST.", "a.localhost",  # noqa: S104
    "localhost.localdomain", "printer.local", "metadata.google.internal", "10.0.0.1",
    "172.16.0.1", "192.168.1.1", "100.100.100.200", "169.254.169.254", "192.0.2.1", "224.0.0.1",
    "255.255.255.255", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::7f00:1]",
    "[fe80::1]", "[fe80::1%25eth0]", "[fc00::1]", "[fec0::1]", "[ff02::1]", "[64:ff9b::a00:1]",
    "[::5db8:d822]", "[2002:7f00:1::]",
]  # fmt: skip
PUBLIC = [
    "93.184.216.34", "1572395042", "0x5db8d822", "[2606:4700::1111]", "[::ffff:93.184.216.34]",
    "[64:ff9b::5db8:d822]", "198.18.0.7", "news.test", "localhost.test", "10.test",
    "internal.test", "163.com", "0x7f.test", "127.0.0.1.test", "a",
]  # fmt: skip


@pytest.mark.parametrize("host", PRIVATE)
def test_private_host_is_recognised_in_every_spelling(host: str) -> None:
    assert is_private(host)


@pytest.mark.parametrize("host", PUBLIC)
def test_public_host_is_not_private(host: str) -> None:
    assert not is_private(host)


def test_listed_hosts_are_allowed_and_refusals_counted() -> None:
    counted: list[str] = []
    rules = AddressRules(["127.0.0.1", "Corp.internal"], lambda: counted.append("one"))
    assert not rules.refuses("http://0x7f.1:8000/a")
    assert not rules.refuses("http://wiki.corp.internal/")
    assert counted == []
    assert rules.refuses("http://127.0.0.2/")
    assert rules.refuses("http://localhost/")
    assert counted == ["one", "one"]


def test_allowed_origin_includes_its_port() -> None:
    rules = AddressRules()
    rules.allow_origin("http://localhost:8888/search?q=a")
    assert not rules.refuses("http://localhost:8888/search?q=b")
    assert rules.refuses("http://localhost:6379/")


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.0.0.1"])
def test_private_address_is_refused_unless_its_name_is_listed(address: str) -> None:
    rules = AddressRules(["intranet.test"])
    assert rules.refuses("http://news.test/", address)
    assert not rules.refuses("http://intranet.test/", address)
    assert not rules.refuses("http://news.test/", "93.184.216.34")


def test_disabled_rules_refuse_nothing() -> None:
    assert not AddressRules(off=True).refuses("http://127.0.0.1/", "127.0.0.1")
