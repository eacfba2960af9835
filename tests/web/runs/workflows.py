"""Workflows of the tests of pages, and the text of a page."""

import html
import re
from typing import Any

APART = """
id: apart
version: 1.0.0
outputs: {text: {type: string}}
steps:
  - {id: idle, uses: data.echo, input: {value: 1}}
  - {id: first, uses: data.echo, input: {value: one}, output: {value: vars.one}}
  - {id: second, uses: data.echo, input: {value: vars.one}, output: {value: outputs.text}}
"""
FAILS = """
id: fails
version: 1.0.0
steps:
  - {id: begin, uses: data.echo, input: {value: ok}}
  - {id: call, uses: control.fail, input: {message: No answer.}}
  - {id: tell, uses: data.echo, input: {value: done}}
"""
ASKS = """
id: asks
version: 1.0.0
steps:
  - {id: begin, uses: data.echo, input: {value: ok}}
  - {id: sure, uses: human.approve, input: {question: "Publish the text?"}}
  - {id: tell, uses: data.echo, input: {value: done}}
"""
EACH = """
id: each
version: 1.0.0
inputs: {items: {type: array, required: true}}
steps:
  - id: each
    uses: data.echo
    input: {value: item}
    config: {foreach: {items: inputs.items}}
"""
OUTER = """
id: outer
version: 1.0.0
steps:
  - {id: inside, uses: "skill:flow", input: {name: Ada}}
"""


def text_of(response: Any) -> str:
    """Return the words of a page without tags, with single spaces."""
    body = response.content.decode()
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def main(response: Any) -> str:
    """Return the words of the main part of a page."""
    body = response.content.decode()
    inner = body[body.index('<main class="main"') : body.index("</main>")]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", inner)).split())
