"""Finds personal data in a text: what has a checksum or an unmistakable form.

Names and addresses have neither, so a text without findings may still contain personal data.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from registry.core.workflows.builtins import checksums


@dataclass(frozen=True, slots=True)
class Kind:
    """`pattern` matches candidates in linear time. `length` returns how much of one is such data, 0 for none."""

    name: str
    pattern: re.Pattern[str]
    length: Callable[[str], int]
    mask: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Found:
    kind: str
    offset: int
    masked: str


def find(text: str, kinds: frozenset[str]) -> Iterator[Found]:
    """Yield what is found, by kind and then in the order of the text. A place is reported for one kind only."""
    taken = bytearray(len(text))
    for kind in KINDS:
        match = kind.pattern.search(text) if kind.name in kinds else None
        while match:
            start, length = match.start(), kind.length(match[0])
            if length and not any(taken[start : start + length]):
                taken[start : start + length] = b"\1" * length
                yield Found(kind.name, start, kind.mask(match[0][:length]))
            match = kind.pattern.search(text, start + max(1, length))


def _mask_end(value: str) -> str:
    """Hide all letters and digits but the last four."""
    shown = [position for position, character in enumerate(value) if character.isalnum()][-4:]
    return "".join("*" if c.isalnum() and at not in shown else c for at, c in enumerate(value))


def _mask_email(value: str) -> str:
    name, _, host = value.rpartition("@")
    return f"{name[0]}***@{host[0]}***.{host.rpartition('.')[2]}"


def _mask_all(value: str) -> str:
    return re.sub(r"[0-9a-zA-Z]", "*", value)


def _email(value: str) -> int:
    return len(value)


def _address(value: str) -> int:
    """Return the length of the IP address of some machine."""
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        return 0
    return 0 if address.is_loopback or address.is_unspecified else len(value)


def _phone(value: str) -> int:
    digits = sum(character.isdigit() for character in value)
    return len(value) if 8 <= digits <= 15 else 0


def _whole(check: Callable[[str], bool]) -> Callable[[str], int]:
    return lambda value: len(value) if check(value) else 0


# Each pattern has a largest length, and starts only where no part of the same thing is before.
_EMAIL = r"(?<![\w.+%-])[\w.+%-]{1,64}@(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,6}[^\W\d_]{2,24}(?![\w-])"
_IBAN = r"(?<!\w)[A-Z]{2}[0-9]{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)(?!\w)"
_CARD = (
    r"(?<![\w.])(?:[2-6][0-9]{12,18}|[2-6][0-9]{3}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{1,7}"
    r"|3[47][0-9]{2}[ -][0-9]{6}[ -][0-9]{5})(?!\w)"
)
_NATIONAL = (
    r"(?<![\w.])(?:[12] ?[0-9]{2} ?[0-9]{2} ?(?:[0-9]{2}|2[AB]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}|[0-9]{11}"
    r"|[0-9]{2} [0-9]{3} [0-9]{3} [0-9]{3}|[0-9]{8}-?[A-Z]|[XYZ]-?[0-9]{7}-?[A-Z])(?!\w)"
)
_PHONE = r"(?<![\w+.])(?:\+|00|\([0-9]{2,5}\)|0(?=[0-9]{2,4}[ /-]))(?:[ /.()-]{0,2}[0-9]){6,14}(?!\w)"
_V6 = r"(?=[0-9a-fA-F]{0,4}:[0-9a-fA-F]{0,4}:)[0-9a-fA-F:]{3,39}"
_IP = rf"(?<![\w.:])(?:[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}}|{_V6})(?![\w:])"

KINDS = (
    Kind("email", re.compile(_EMAIL), _email, _mask_email),
    Kind("iban", re.compile(_IBAN), checksums.iban, _mask_end),
    Kind("card", re.compile(_CARD), _whole(checksums.card), _mask_end),
    Kind("national-id", re.compile(_NATIONAL), _whole(checksums.national_id), _mask_all),
    Kind("phone", re.compile(_PHONE), _phone, _mask_end),
    Kind("ip", re.compile(_IP), _address, _mask_all),
)
NAMES = tuple(kind.name for kind in KINDS)
