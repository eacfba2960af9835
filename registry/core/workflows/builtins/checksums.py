"""Numbers of people and their accounts that a checksum tells from other numbers."""

import re
from collections.abc import Callable, Mapping
from datetime import date

# Letters and digits of an IBAN. Numbers of other countries are taken as long as they are.
_IBAN_LENGTHS = {
    "AT": 20, "BE": 16, "BG": 22, "CH": 21, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "EE": 20, "ES": 24, "FI": 18,
    "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IS": 26, "IT": 27, "LI": 21, "LT": 20, "LU": 20,
    "LV": 21, "MC": 27, "MT": 31, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24, "SE": 24, "SI": 19, "SK": 24,
}  # fmt: skip
_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_PESEL_WEIGHTS = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)
_PESEL_CENTURIES = (1900, 2000, 2100, 2200, 1800)


def iban(text: str) -> int:
    """Return how long the international bank account number at the start of a text is, or 0 if there is none.

    Its country says how many letters and digits it has. Their remainder modulo 97 is 1.
    """
    places = [at for at, character in enumerate(text) if character != " "]
    length = _IBAN_LENGTHS.get(text[:2], len(places))
    if length > len(places) or (length < len(places) and places[length] == places[length - 1] + 1):
        return 0  # too short, or the word goes on
    plain = text[: places[length - 1] + 1].replace(" ", "")
    number = "".join(str(int(character, 36)) for character in plain[4:] + plain[:4])
    return places[length - 1] + 1 if int(number) % 97 == 1 else 0


def card(text: str) -> bool:
    """Check the number of a payment card with the algorithm of Luhn."""
    digits = _digits(text)
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = (digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def national_id(text: str) -> bool:
    """Check whether this is the number of a person in one of the countries below."""
    plain = re.sub(r"[ -]", "", text)
    return any(re.fullmatch(pattern, plain) and check(plain) for pattern, check in _NATIONAL.items())


def _german(text: str) -> bool:
    """Check a tax identification number: one or two digits are repeated, and ISO 7064 MOD 11,10."""
    digits = _digits(text)
    counts = sorted(digits[:10].count(digit) for digit in set(digits[:10]))
    if counts[-1] not in (2, 3) or counts[:-1] != [1] * (len(counts) - 1):
        return False
    product = 10
    for digit in digits[:10]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == digits[10]


def _spanish(text: str) -> bool:
    """Check a DNI or NIE: the last letter follows from the number."""
    number = text[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2")
    return _DNI_LETTERS[int(number) % 23] == text[-1]


def _french(text: str) -> bool:
    """Check a social security number. Corsica has letters in the place of a digit."""
    number = int(text[:13].replace("2A", "19").replace("2B", "18"))
    return 97 - number % 97 == int(text[13:])


def _polish(text: str) -> bool:
    """Check a PESEL: a date of birth and a weighted sum."""
    digits = _digits(text)
    year, month, day = int(text[:2]), int(text[2:4]), int(text[4:6])
    try:
        date(_PESEL_CENTURIES[month // 20] + year, month % 20, day)
    except ValueError:
        return False
    total = sum(weight * digit for weight, digit in zip(_PESEL_WEIGHTS, digits[:10], strict=True))
    return (10 - total % 10) % 10 == digits[10]


def _digits(text: str) -> list[int]:
    return [int(character) for character in text if character.isdigit()]


_NATIONAL: Mapping[str, Callable[[str], bool]] = {
    r"[1-9][0-9]{10}": _german,
    r"[0-9]{8}[A-Z]|[XYZ][0-9]{7}[A-Z]": _spanish,
    r"[12][0-9]{2}(?:0[1-9]|1[0-2]|[2-9][0-9])(?:[0-9]{2}|2A|2B)[0-9]{8}": _french,
    r"[0-9]{11}": _polish,
}
