"""The optional scanner `cisco-ai-skill-scanner`, a separate program that the worker runs.

It only reads files and uses no network here. It runs in a temporary directory with limits of time, memory and output,
and without the environment of the site. Its findings are at most warnings: an error blocks publishing by default, and
a rule that this site does not control must not decide that.
"""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from registry.core.bundle import Bundle
from registry.core.findings import Category, Finding, Severity, in_reading_order, limit_per_rule, shorten
from registry.core.text.printable import printable
from registry.lib.lru import MEBIBYTE

_MEMORY, _OUTPUT_BYTES, _FILE_BYTES = 4_096 * MEBIBYTE, 8 * MEBIBYTE, 64 * MEBIBYTE
_LISTED = 20  # findings of each rule
_RULE_CHARS, _TEXT_CHARS = 80, 500
_SEVERITIES = {
    "CRITICAL": Severity.WARNING, "HIGH": Severity.WARNING, "MEDIUM": Severity.HINT, "LOW": Severity.HINT,
}  # fmt: skip


class ScannerFailed(Exception):
    """The program could not be started, took too long, or printed something else than a report."""


@dataclass(frozen=True, slots=True)
class Scanner:
    """`command` is the path of the program `skill-scanner`."""

    command: str
    seconds: float = 120

    def findings(self, bundle: Bundle) -> tuple[Finding, ...]:
        with TemporaryDirectory(prefix="skillsite-scan-") as directory:
            root, report = Path(directory, "skill"), Path(directory, "report.json")
            _write(bundle, root)
            self._run(["scan", str(root), "--format", "json", "--output-json", str(report)], Path(directory))
            return _read(report, bundle)

    def _run(self, arguments: list[str], directory: Path) -> None:
        environment = {
            "PATH": os.environ.get("PATH", os.defpath), "HOME": str(directory), "TMPDIR": str(directory),
            "LC_ALL": "C.UTF-8", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }  # fmt: skip
        try:
            process = subprocess.Popen(  # noqa: S603 - the operator names the program, and no argument is foreign text
                [self.command, *arguments], env=environment, cwd=directory, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            raise ScannerFailed(f"{self.command} cannot be started: {error}") from error
        _limit(process.pid, int(self.seconds))
        try:
            code = process.wait(self.seconds)
        except subprocess.TimeoutExpired:
            raise ScannerFailed(f"{self.command} took longer than {self.seconds:g} seconds.") from None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if code:
            raise ScannerFailed(f"{self.command} ended with the status {code}.")


def _limit(pid: int, seconds: int) -> None:
    """Limit a process and its children."""
    if sys.platform != "linux":
        return
    limits = {
        resource.RLIMIT_AS: _MEMORY,
        resource.RLIMIT_CPU: seconds + 1,
        resource.RLIMIT_FSIZE: _FILE_BYTES,
        resource.RLIMIT_CORE: 0,
    }
    with suppress(ProcessLookupError):
        for which, most in limits.items():
            resource.prlimit(pid, which, (most, most))


def _write(bundle: Bundle, root: Path) -> None:
    for path, content in bundle.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _read(report: Path, bundle: Bundle) -> tuple[Finding, ...]:
    try:
        if report.stat().st_size > _OUTPUT_BYTES:
            raise ScannerFailed(f"The report has more than {_OUTPUT_BYTES:,} bytes.")
        parsed = json.loads(report.read_bytes())
        listed = parsed["findings"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        raise ScannerFailed(f"The report cannot be read: {error!r}") from error
    if not isinstance(listed, list):
        raise ScannerFailed("The report has no list of findings.")
    return in_reading_order(limit_per_rule(_findings(listed, bundle), _LISTED))


def _findings(listed: Iterable[Any], bundle: Bundle) -> Iterable[Finding]:
    for each in listed:
        severity = _SEVERITIES.get(str(each.get("severity"))) if isinstance(each, Mapping) else None
        if severity is not None and str(each.get("file_path")) in bundle:
            yield _finding(each, severity)


def _finding(each: Mapping[str, Any], severity: Severity) -> Finding:
    rule, line = str(each.get("rule_id", "finding")), each.get("line_number")
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in rule.lower())[:_RULE_CHARS]
    title, detail = (_text(each.get(part)) for part in ("title", "description"))
    return Finding(
        f"skill-scanner-{name}",
        severity,
        str(each["file_path"]),
        line if isinstance(line, int) and 0 < line < 2**31 else None,
        f"{title}. {detail}" if detail else f"{title}.",
        _text(each.get("remediation"), most=_TEXT_CHARS),
        Category.SECURITY,
    )


def _text(value: object, *, most: int = 0) -> str:
    text = printable(str(value or ""), _TEXT_CHARS)
    return text[:most] if most else shorten(text).rstrip(".")
