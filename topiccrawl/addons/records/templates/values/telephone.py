"""Telephone numbers, by the library phonenumbers, plus further Chinese formats."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import phonenumbers
from phonenumbers import Leniency, PhoneNumber, PhoneNumberFormat, PhoneNumberMatcher

from topiccrawl.addons.records.templates.values.value import SOFT, Value
from topiccrawl.text.normal import has_han

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 2_000
"""Maximum length of a text that is searched, in characters."""
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−﹣－～~", "-") | {SOFT: " "})
_EXTENSION = re.compile(
    r"(?:(?<=\d{2})\s*(?:转分机|转接|轉接|转|轉|分[机機]号?|[内內][线線]|ext\.?|extension|x|#)\s*:?\s*"
    r"|(?:(?<=\d{7})|(?<=[-) ]\d{4} \d{4})|(?<=[-) ]\d{3} \d{4}))-(?=\d\d))(\d{1,5})"
    r"(?P<more>(?:[/、,]\d{2,5}(?!\d))*)(?![\d-])",
    re.IGNORECASE,
)
_TAIL = re.compile(r"\s*[/、,或]\s*(\d{1,8})(?![\d-])(?![\s.]?\d{2})")
_LOCAL = re.compile(r"(?<![\d-])[2-9]\d{2,3}[- ]?\d{4}(?![\d-])")
_SHORT = re.compile(r"(?<!\d)(?:95\d{3,4}|96\d{3,4})(?![\d-])")
_DOUBLE = re.compile(r"-(?=-)")
_DECIMAL = re.compile(r"(?<![\d.])-?\d{0,2}\.\d{5,}(?![\d-])|(?<!\d)\d+\.\d{9,}")
_LOCAL_LENGTHS = (7, 8)
_CHINA = 86
_SOME_DIGITS = re.compile(r"\d{2,}\D{0,3}\d{2}")


def telephones(text: str, region: str, *, labelled: bool = True) -> list[Value]:
    """Return the telephone numbers of a text, in the international format.

    ``028-84118076/86`` are two numbers; ``-801`` and ``转801`` are extensions. If ``labelled`` (the
    text has a telephone label), numbers without area code and short numbers are returned as well. A
    local number gets the area code of another number in the text, if any.

    >>> [one.value for one in telephones("028-84118076/86 转 801", "CN")]
    ['+86 28 8411 8076', '+86 28 8411 8086 ext. 801']
    >>> [one.value for one in telephones("86-28-85123456-801、13800138000", "CN")]
    ['+86 28 8512 3456 ext. 801', '+86 138 0013 8000']
    """
    return list(_telephones(text[:LONGEST], region, labelled))


@lru_cache(maxsize=2_000)
def _telephones(text: str, region: str, labelled: bool) -> tuple[Value, ...]:  # noqa: FBT001
    """Return the same, cached: a search takes about a millisecond, and sites repeat numbers."""
    text = _DOUBLE.sub(" ", text.translate(_DASHES))
    text = _DECIMAL.sub(lambda match: " " * len(match[0]), text)
    if not _SOME_DIGITS.search(text):
        return tuple(_short(text, region)) if labelled else ()
    extensions = {match.start(): match for match in _EXTENSION.finditer(text)}
    bare = _EXTENSION.sub(lambda match: "|" + " " * (len(match[0]) - 1), text)
    found: list[tuple[PhoneNumber, int, int]] = []
    for match in PhoneNumberMatcher(bare, region, leniency=Leniency.VALID):
        if not labelled and _bare_digits(match.raw_string, match.number):
            continue
        found.append((match.number, match.start, match.end))
        found.extend(_tails(bare, match.number, match.end))
    values = [value for one in found for value in _written(*one, extensions)]
    if labelled:
        values += _locals(bare, region, found, extensions)
        values += _short(bare, region) if not values else []
    return tuple(sorted(values, key=lambda one: one.start))


def _bare_digits(written: str, number: PhoneNumber) -> bool:
    """Return whether a Chinese number lacks its leading 0, and may be another kind of number."""
    lacks = written.isdigit() and not written.startswith(("0", "86"))
    return lacks and number.country_code == _CHINA and bool(area_code(number))


def _tails(text: str, number: PhoneNumber, end: int) -> Iterator[tuple[PhoneNumber, int, int]]:
    """Yield numbers of which only the last digits are written: 028-84118076/86/96."""
    national = str(number.national_number)
    while match := _TAIL.match(text, end):
        digits = match[1]
        listed = match[0].lstrip()[0] in "、,"
        if len(digits) > len(national) or (listed and len(digits) not in _LOCAL_LENGTHS):
            return
        other = PhoneNumber()
        other.merge_from(number)
        other.national_number = int(national[: len(national) - len(digits)] + digits)
        if not phonenumbers.is_valid_number(other):
            return
        yield other, match.start(1), match.end()
        end = match.end()


def _written(
    number: PhoneNumber, start: int, end: int, extensions: dict[int, re.Match[str]]
) -> Iterator[Value]:
    extension = extensions.get(end)
    if extension is None:
        yield Value(_one_spelling(number), start, end)
        return
    for digits in re.findall(r"\d+", extension[1] + extension["more"]):
        number.extension = digits
        yield Value(_one_spelling(number), start, extension.end())


def _one_spelling(number: PhoneNumber) -> str:
    """Format a number internationally; national signs for extensions (``#``) become ``ext.``."""
    extension = number.extension
    plain = PhoneNumber()
    plain.merge_from(number)
    plain.extension = None
    written = phonenumbers.format_number(plain, PhoneNumberFormat.INTERNATIONAL)
    return f"{written} ext. {extension}" if extension else written


def _locals(
    text: str,
    region: str,
    found: list[tuple[PhoneNumber, int, int]],
    extensions: dict[int, re.Match[str]],
) -> list[Value]:
    """Return Chinese numbers without area code that are not part of other numbers."""
    if region != "CN":
        return []
    area = next((a for number, _, _ in found if (a := area_code(number))), "")
    values: list[Value] = []
    for match in _LOCAL.finditer(text):
        if any(start < match.end() and match.start() < end for _, start, end in found):
            continue
        full = with_area(re.sub(r"\D", "", match[0]), area, region)
        extension = extensions.get(match.end())
        more = f" ext. {extension[1]}" if extension else ""
        values.append(Value(full + more, match.start(), match.end()))
    return values


def _short(text: str, region: str) -> list[Value]:
    """Return Chinese service numbers of five or six digits."""
    if region != "CN":
        return []
    found = [Value(match[0], match.start(), match.end()) for match in _SHORT.finditer(text)]
    return [] if len(found) > 1 and has_han(text) else found  # a list of banks and insurers


@lru_cache(maxsize=2_000)
def area_of(value: str) -> str:
    """Return the area code of a number in the international format; "" if it has none.

    >>> area_of("+86 28 8512 3456"), area_of("+86 138 0013 8000"), area_of("95588")
    ('28', '', '')
    """
    return area_code(phonenumbers.parse(value)) if value.startswith("+") else ""


def area_code(number: PhoneNumber) -> str:
    """Return the area code of a number; "" if it has none."""
    length = phonenumbers.length_of_geographical_area_code(number)
    return str(number.national_number)[:length]


def with_area(digits: str, area: str, region: str) -> str:
    """Return a local number with an area code; unchanged if the result is not valid.

    >>> with_area("85123456", "28", "CN"), with_area("85123456", "", "CN")
    ('+86 28 8512 3456', '85123456')
    """
    if not area or len(digits) not in _LOCAL_LENGTHS:
        return digits
    number = phonenumbers.parse("0" + area + digits, region)
    return _one_spelling(number) if phonenumbers.is_valid_number(number) else digits
