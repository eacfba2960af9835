"""JSON bodies of requests. Their values are counted before they are parsed.

A short text can have millions of values: 16 MiB of `{},` would take 400 MB. Counting stops at the limit and creates no
objects.
"""

import re
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.utils import json

MOST_VALUES = 100_000

# A string, or a character that starts or separates values. A string without an end reaches to the end of the text.
# The possessive quantifiers keep the time linear.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{,]', re.DOTALL)


class JsonParser(BaseParser):
    """Parser of JSON in UTF-8. It refuses a body with too many values, or nested too deeply.

    It does not inherit from the JSON parser of DRF, whose bodies are limited by DATA_UPLOAD_MAX_MEMORY_SIZE. Each view
    has its own limit.
    """

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        try:
            text = stream.read().decode()
            check_values(text)
            return json.loads(text)
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None
        except ValueError as error:
            raise ParseError(f"The body is not JSON in UTF-8: {error}.") from error


def check_values(text: str) -> None:
    """Raise ParseError if the JSON has more than MOST_VALUES strings, lists, objects and separators."""
    for count, _ in enumerate(_TOKEN.finditer(text), start=1):
        if count > MOST_VALUES:
            raise ParseError(f"The JSON has more than {MOST_VALUES:,} values. Send less in one request.")
