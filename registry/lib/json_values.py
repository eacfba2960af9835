"""Counts the values of a JSON text before it is parsed.

A short text can have millions of values: 16 MiB of `{},` would take 400 MB. Counting stops at the limit and creates no
objects.
"""

import re

MOST_VALUES = 100_000  # in the body of a request

# A string, or a character that starts or separates values. A string without an end reaches to the end of the text.
# The possessive quantifiers keep the time linear.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{,]', re.DOTALL)


def has_more_values(text: str, most: int) -> bool:
    """Check for more than `most` strings, lists, objects and separators."""
    return any(count > most for count, _ in enumerate(_TOKEN.finditer(text), start=1))
