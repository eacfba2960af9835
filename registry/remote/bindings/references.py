"""Templates of a binding: `input.x.y` as a whole string, and `{field}` in the path and the query of a URL."""

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

import httpx

from registry.core.workflows.binding_templates import INPUT_PREFIX, URL_FIELD, URL_START
from registry.core.workflows.values import Json, canonical, type_of
from registry.remote.bindings.failure import unusable_definition, unusable_input
from registry.remote.bindings.value_paths import MISSING, at

_MOST_URL = 4_000  # characters
_SLASH = re.compile(r"[/\\]")


def resolved(template: Json, inputs: Mapping[str, Json]) -> Json:
    """Return a template with the values of the input. An entry whose value is missing is left out."""
    found = _resolved(template, inputs)
    return None if found is MISSING else found


def _resolved(template: Json, inputs: Mapping[str, Json]) -> Json:
    if isinstance(template, str):
        return at(inputs, template.removeprefix(INPUT_PREFIX)) if template.startswith(INPUT_PREFIX) else template
    if isinstance(template, Mapping):
        entries = {name: _resolved(value, inputs) for name, value in template.items()}
        return {name: value for name, value in entries.items() if value is not MISSING}
    if isinstance(template, (list, tuple)):
        return [value for value in (_resolved(one, inputs) for one in template) if value is not MISSING]
    return template


def whole(inputs: Mapping[str, Json]) -> dict[str, Json]:
    """Return the whole input, without the optional fields that are empty."""
    return {name: value for name, value in inputs.items() if value is not None}


def scalar(value: Json, where: str) -> str:
    """Return the text of a string, a number or a boolean."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise unusable_input(f"The value for {where} is not valid text.") from None
        return value
    if value is None or isinstance(value, (Mapping, list)):
        kind = type_of(value)
        raise unusable_input(f"The value for {where} is of type {kind}. Only a string, a number or a boolean fits.")
    return canonical(value)


def authority(template: Json) -> str:
    """Return the host and the port of a URL, or raise BindingFailed."""
    return _start(template).partition("://")[2]


def _start(template: Json) -> str:
    found = URL_START.match(template) if isinstance(template, str) else None
    if not found:
        raise unusable_definition(
            "`url` of the binding must start with http:// or https:// and a host, without a user name. Fields of the "
            "input such as {id} may only follow the host."
        )
    return found[0]


def url(template: Json, inputs: Mapping[str, Json]) -> httpx.URL:
    """Return the URL of a call. A value of the input changes neither the host nor the number of parts of the path."""
    start = _start(template)
    rest, _, _ = template[len(start) :].partition("#")
    path, mark, query = rest.partition("?")
    text = _filled(path, inputs, in_path=True) + mark + _filled(query, inputs, in_path=False)
    # A slash of a value is sent as %2F, which some servers read as a slash before they look at the path.
    if any(part in (".", "..") for part in _SLASH.split(unquote(text.partition("?")[0]))):
        raise unusable_input("A value for the path of the URL would lead to another path.")
    if len(start) + len(text) > _MOST_URL:
        raise unusable_input(f"The URL would have more than {_MOST_URL:,} characters. Send long values in the body.")
    try:
        found = httpx.URL(start + text)
        return found.copy_with(host=found.host)  # httpx validates the host only when it is read
    except (httpx.InvalidURL, UnicodeError):
        raise unusable_definition("`url` of the binding is not a valid address.") from None


def _filled(template: str, inputs: Mapping[str, Json], *, in_path: bool) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1]
        found = at(inputs, name)
        text = scalar(None if found is MISSING else found, f"{{{name[:80]}}} in the URL")
        if in_path and not text:
            raise unusable_input(f"The value for {{{name[:80]}}} in the path of the URL is empty.")
        return quote(text, safe="")

    filled = URL_FIELD.sub(value, template)
    if "{" in filled or "}" in filled:
        raise unusable_definition("`url` of the binding has a brace without its other half.")
    return filled
