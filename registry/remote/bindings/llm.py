"""Calls of a language model: a prompt from a template, and its answer as text or as a JSON object."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from registry.core.workflows.binding_templates import PROMPT_FIELD
from registry.core.workflows.values import Json, canonical
from registry.lib.circuit_breaker import Outcome
from registry.lib.json_values import MOST_VALUES, has_more_values
from registry.remote import chat
from registry.remote.bindings import answers
from registry.remote.bindings.exchange import check_status
from registry.remote.bindings.failure import (
    BindingFailed,
    not_answered,
    unusable_answer,
    unusable_definition,
    unusable_input,
)
from registry.remote.bindings.value_paths import MISSING, at
from registry.remote.chat import ChatEndpoint, Completion, NotACompletion
from registry.remote.outbound_http import Failure

MOST_PROMPT = 400_000  # characters, about 100,000 tokens
MOST_TOKENS = 32_768
DEFAULT_TOKENS = 2_048
_FENCED = re.compile(r"\A\s*```[A-Za-z]*\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


def call(
    binding: Mapping[str, Any], inputs: Mapping[str, Json], *, endpoint: ChatEndpoint, seconds: float
) -> dict[str, Any]:
    """Return the outputs of a call, or raise BindingFailed.

    `prompt` and `system` are texts with `{{field}}`. With `json: true`, the fields of the answer are the outputs;
    otherwise the output `text` is the whole answer. `max_tokens` and `temperature` are passed on, and `model` replaces
    the model of the endpoint.
    """
    endpoint = replace(endpoint, model=str(binding.get("model") or endpoint.model))
    if not (endpoint.url and endpoint.model and endpoint.key):
        raise unusable_definition(
            "No language model is configured. The operator of the site can set WORKFLOW_LLM_URL, WORKFLOW_LLM_MODEL "
            "and WORKFLOW_LLM_KEY."
        )
    messages = _messages(binding, inputs)
    options = {"temperature": _number(binding, "temperature", 0, 2), "max_tokens": _tokens(binding)}
    try:
        response = chat.send(endpoint, messages, seconds=seconds, most=answers.MOST_BYTES, **options)
    except Failure as failure:
        raise not_answered(endpoint.host, failure) from None
    check_status(endpoint.host, response)
    if has_more_values(response.body.decode(errors="replace"), MOST_VALUES):
        raise unusable_answer(f"The answer of {endpoint.host} has too many values.")
    try:
        answer = chat.completion(response)
    except NotACompletion as error:
        raise BindingFailed(f"{endpoint.host}: {error}", outcome=Outcome.SUCCESS) from None
    return _outputs(binding, answer, endpoint.host)


def _outputs(binding: Mapping[str, Any], answer: Completion, host: str) -> dict[str, Any]:
    if answer.cut:
        raise unusable_answer(f"The answer of the model ended at {_tokens(binding):,} tokens. Raise `max_tokens`.")
    if not binding.get("json"):
        return answers.outputs({"text": answer.text.replace("\x00", "")}, binding.get("outputs"))
    fenced = _FENCED.match(answer.text)
    value = answers.parse((fenced[1] if fenced else answer.text).encode(errors="replace"), host, retryable=True)
    if not isinstance(value, dict):
        message = f"The answer of the model at {host} is JSON, but not an object. Say so in the prompt."
        raise unusable_answer(message, retryable=True)
    return answers.outputs(value, binding.get("outputs"))


def _messages(binding: Mapping[str, Any], inputs: Mapping[str, Json]) -> list[dict[str, str]]:
    if not isinstance(binding.get("prompt"), str) or not binding["prompt"].strip():
        raise unusable_definition("`prompt` of the binding must be a text.")
    roles = [(role, binding[part]) for role, part in (("system", "system"), ("user", "prompt")) if binding.get(part)]
    messages = [{"role": role, "content": _text(str(template), inputs)} for role, template in roles]
    length = sum(len(message["content"]) for message in messages)
    if length > MOST_PROMPT:
        raise unusable_input(f"The prompt has {length:,} characters. At most {MOST_PROMPT:,} are allowed.")
    return messages


def _text(template: str, inputs: Mapping[str, Json]) -> str:
    """Return a template with its fields. Values are not searched for fields again. A missing value is empty."""
    texts: dict[str, str] = {}
    length = 0

    def value(match: re.Match[str]) -> str:
        nonlocal length
        name = match[1]
        if name not in texts:
            texts[name] = _as_text(at(inputs, name))
        length += len(texts[name])
        if length > MOST_PROMPT:
            raise unusable_input(f"The prompt would have more than {MOST_PROMPT:,} characters. Send less.")
        return texts[name]

    return PROMPT_FIELD.sub(value, template)


def _as_text(value: Json) -> str:
    return "" if value is None or value is MISSING else value if isinstance(value, str) else canonical(value)


def _tokens(binding: Mapping[str, Any]) -> int:
    return int(_number(binding, "max_tokens", 1, MOST_TOKENS, DEFAULT_TOKENS))


def _number(binding: Mapping[str, Any], name: str, least: float, most: float, default: float = 0) -> float:
    value = binding.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise unusable_definition(f"`{name}` of the binding must be a number from {least:g} to {most:,.0f}.")
    return value
