"""The command `resolve`. It needs no site and no token."""

import dataclasses
import json
import logging
import os
import sys
from argparse import Namespace
from pathlib import Path

from registry.client import exit_codes, strict_json
from registry.client.errors import LocalProblem, Misconfigured
from registry.client.output import print_line, print_text
from registry.client.resolved_skills import ResolvedSkills, resolve
from registry.remote import resolver
from registry.remote.resolver import Resolved


def run(arguments: Namespace) -> int:
    """Resolve the definitions in a file, and print a line for each or the catalog of all."""
    resolver.log.propagate = False  # each reason is printed below
    resolver.log.addHandler(logging.NullHandler())
    skills = resolve(
        _read(arguments.definitions),
        cache_dir=arguments.cache or os.environ.get("SKILLSITE_CACHE") or None,
        offline=arguments.offline,
        allow_hosts=arguments.allow_host or None,
    )
    _print(skills, arguments)
    return exit_codes.DIFFERS if skills.skipped else exit_codes.DONE


def _print(skills: ResolvedSkills, arguments: Namespace) -> None:
    if arguments.format == "json":
        print_text(json.dumps({"skills": [_as_json(entry) for entry in skills.entries]}, indent=2))
    elif arguments.format == "lines":
        for entry in skills.entries:
            print_line(f"{entry.status}  {entry.name} {entry.version}  {entry.reason or entry.directory}")
    else:
        print_text(skills.catalog_text(budget=arguments.budget, format=arguments.format).text)


def _as_json(entry: Resolved) -> dict[str, object]:
    return {
        key: str(value) if isinstance(value, Path) else value
        for key, value in dataclasses.asdict(entry).items()
        if value or key in ("name", "version", "status")
    }


def _read(where: str) -> object:
    try:
        content = sys.stdin.buffer.read() if where == "-" else Path(where).read_bytes()
    except OSError as error:
        raise LocalProblem(f"Could not read {where}: {error.strerror or error}.") from error
    try:
        return strict_json.parse(content)
    except ValueError as error:
        raise Misconfigured(f"{where} is not JSON in UTF-8: {error}") from error
