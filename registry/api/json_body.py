"""JSON bodies of requests. Their values are counted before they are parsed."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.utils import json

from registry.lib.json_values import MOST_VALUES, has_more_values


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
            reason = str(error).partition(";")[0]  # without the advice to programmers about numbers of many digits
            raise ParseError(f"The body is not JSON in UTF-8: {reason}.") from error


def check_values(text: str) -> None:
    """Raise ParseError if the JSON has more than MOST_VALUES strings, lists, objects and separators."""
    if has_more_values(text, MOST_VALUES):
        raise ParseError(f"The JSON has more than {MOST_VALUES:,} values. Send less in one request.")
