"""What the command prints: the answer to standard output, everything about it to standard error."""

import re
import sys

from registry.client.errors import ClientError, Refused

# A terminal obeys these, and texts from elsewhere have no orders to give. Tab and line feed are harmless.
_ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def say(text: str) -> None:
    """One or more lines of ours; names in them may come from elsewhere."""
    print(_tame(text), flush=True)  # noqa: T201


def note(text: str) -> None:
    print(_tame(text), file=sys.stderr, flush=True)  # noqa: T201


def complain(error: ClientError) -> None:
    note(error.message)
    for finding in error.findings if isinstance(error, Refused) else []:
        line = f":{finding['line']}" if finding.get("line") else ""
        note(f"  {finding.get('severity')}: {finding.get('file')}{line}: {finding.get('message')} {finding.get('fix')}")


def give(text: str) -> None:
    """A text as it is; on a terminal without the characters that it would obey."""
    out = sys.stdout
    shown = _tame(text) if out.isatty() else text
    out.flush()
    out.buffer.write(shown.encode())
    if shown and not shown.endswith("\n"):
        out.buffer.write(b"\n")
    out.flush()


def _tame(text: str) -> str:
    return _ORDERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
