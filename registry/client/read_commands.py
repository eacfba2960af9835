"""The commands `catalog`, `read`, `file` and `propose`."""

import dataclasses
import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from registry.client import exit_codes
from registry.client.client import SkillsiteClient
from registry.client.errors import LocalProblem
from registry.client.output import give, note, say

_FROM_CACHE = "The site was not asked: this is an earlier answer, from the cache."


def catalog(client: SkillsiteClient, given: Namespace) -> int:
    asked = {"q": given.q, "tag": given.tag, "kind": given.kind, "budget": given.budget}
    if given.format == "json":
        found = client.catalog(**asked)
        _json(found)
        return _mention_cache(found.from_cache)
    text = client.catalog_text(**asked, format=given.format)
    if not text.text:
        note("There are no such skills.")
    give(text.text)
    return _mention_cache(text.from_cache)


def read(client: SkillsiteClient, given: Namespace) -> int:
    skill = client.read(given.name, given.version)
    if given.format == "json":
        _json(skill)
    else:
        give(skill.instructions)
        note(f"{skill.summary} · version {skill.version} · {skill.digest}")
        if skill.hint:
            note(skill.hint)
    return _mention_cache(skill.from_cache)


def file(client: SkillsiteClient, given: Namespace) -> int:
    found = client.file(given.name, given.path, given.version)
    if given.output:
        try:
            Path(given.output).write_bytes(found.content)
        except OSError as error:
            raise LocalProblem(f"{given.output} cannot be written: {error.strerror or error}.") from error
    elif sys.stdout.isatty():
        try:
            give(found.text)
        except UnicodeDecodeError as error:
            raise LocalProblem(f"{given.path} is binary. Write it to a file with --output.") from error
    else:
        sys.stdout.buffer.write(found.content)
    return _mention_cache(found.from_cache)


def propose(client: SkillsiteClient, given: Namespace) -> int:
    proposal = client.propose(
        given.name,
        justification=given.why,
        kind="delete" if given.delete else None,
        skill_md=_text(given.skill_md),
        diff=_text(given.diff),
        base_digest=given.base,
        evidence=given.evidence,
    )
    say(f"Proposal {proposal.id} is {proposal.state}. Agents get it only after a person approves it.")
    return exit_codes.DONE


def _text(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return content.decode()
    except UnicodeDecodeError as error:
        raise LocalProblem(f"{path} is not text in UTF-8.") from error
    except OSError as error:
        raise LocalProblem(f"{path} cannot be read: {error.strerror or error}.") from error


def _json(value: Any) -> None:
    give(json.dumps(dataclasses.asdict(value), ensure_ascii=not sys.stdout.isatty(), indent=2))


def _mention_cache(from_cache: bool) -> int:
    if from_cache:
        note(_FROM_CACHE)
    return exit_codes.DONE
