"""Secrets in templates of operators: `secret:NAME` stands for a variable that the operator allowed."""

import re
from collections.abc import Callable, Mapping

from registry.core.workflows.binding_templates import SECRET
from registry.core.workflows.values import Json
from registry.remote.bindings.failure import unusable_definition

Secrets = Mapping[str, str]

_LEAST_HIDDEN = 8  # characters. A shorter value could be a part of any text


def filled(template: str, secrets: Secrets) -> str:
    """Return a text with its secrets. Never call it with a text that contains values of the input."""
    return SECRET.sub(lambda match: _value(match[1], secrets), template)


def mentions(template: Json) -> bool:
    """Return whether a template contains a secret anywhere."""
    if isinstance(template, str):
        return bool(SECRET.search(template))
    if isinstance(template, Mapping):
        return any(mentions(one) for one in template.values())
    return isinstance(template, (list, tuple)) and any(mentions(one) for one in template)


def _value(name: str, secrets: Secrets) -> str:
    value = secrets.get(name, "")
    if not value:
        raise unusable_definition(
            f"The secret {name} is not available. Set the environment variable {name}, and list it in WORKFLOW_SECRETS."
        )
    if not value.isprintable():
        raise unusable_definition(f"The secret {name} contains a line break or another control character.")
    return value


def hidden(value: Json, secrets: Secrets) -> Json:
    """Return a value in which each secret is replaced by its name. Some servers repeat the headers that they got."""
    known = {text: f"secret:{name}" for name, text in secrets.items() if len(text) >= _LEAST_HIDDEN}
    if not known:
        return value
    longest_first = sorted(known, key=len, reverse=True)
    found = re.compile("|".join(map(re.escape, longest_first)))
    return _hidden(value, lambda text: found.sub(lambda match: known[match[0]], text))


def _hidden(value: Json, hide: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {hide(name): _hidden(one, hide) for name, one in value.items()}
    return [_hidden(one, hide) for one in value] if isinstance(value, list) else value
