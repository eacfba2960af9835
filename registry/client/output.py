"""Output of the command: results go to standard output, messages to standard error."""

import re
import sys

from registry.client.errors import ClientError, Refused

# Control characters, which could change the terminal. Tab and line feed are harmless.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def print_line(text: str) -> None:
    print(_escape_controls(text), flush=True)  # noqa: T201


def print_note(text: str) -> None:
    print(_escape_controls(text), file=sys.stderr, flush=True)  # noqa: T201


def print_error(error: ClientError) -> None:
    print_note(error.message)
    for finding in error.findings if isinstance(error, Refused) else []:
        line = f":{finding['line']}" if finding.get("line") else ""
        place = f"{finding.get('file')}{line}"
        print_note(f"  {finding.get('severity')}: {place}: {finding.get('message')} {finding.get('fix')}")


def print_text(text: str) -> None:
    """Print a text unchanged, or with control characters escaped if the output is a terminal."""
    out = sys.stdout
    output = _escape_controls(text) if out.isatty() else text
    out.flush()
    out.buffer.write(output.encode())
    if output and not output.endswith("\n"):
        out.buffer.write(b"\n")
    out.flush()


def _escape_controls(text: str) -> str:
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
