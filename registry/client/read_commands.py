"""The commands `catalog`, `route`, `instructions`, `read`, `file` and `propose`."""

import dataclasses
import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from registry.client import exit_codes
from registry.client.client import SkillsiteClient
from registry.client.errors import LocalProblem
from registry.client.output import print_line, print_note, print_text
from registry.core.workflows.plan import FILE as WORKFLOW
from registry.lib.percent import in_percent

_FROM_CACHE = "This is a cached response. The site was not reached."


def catalog(client: SkillsiteClient, arguments: Namespace) -> int:
    filters = {name: getattr(arguments, name) for name in ("q", "tag", "kind", "budget", "for_prompt")}
    if arguments.format == "json":
        result = client.catalog(**filters)
        _json(result)
        return _mention_cache(result.from_cache)
    text = client.catalog_text(**filters, format=arguments.format)
    if not text.text:
        print_note("No skills found.")
    print_text(text.text)
    return _mention_cache(text.from_cache)


def route(client: SkillsiteClient, arguments: Namespace) -> int:
    routed = client.route(arguments.question, limit=arguments.limit, kind=arguments.kind, threshold=arguments.threshold)
    if arguments.json:
        _json(routed)
        return exit_codes.DONE
    for match in routed.matches:
        print_line(f"{in_percent(match.confidence):>3}%  {match.name}  {match.title}. {match.reason}")
    if not routed.matches:
        print_note("None of these skills fits.")
    return exit_codes.DONE


def instructions(client: SkillsiteClient, arguments: Namespace) -> int:
    result = client.instructions(arguments.agent, catalog=arguments.catalog, budget=arguments.budget)
    if arguments.format == "json":
        _json(result)
    else:
        if not result.text:
            print_note(f"The agent {result.agent} has no instructions.")
        print_text(result.text)
        print_note(f"Instructions of {result.agent} (approx. {result.tokens} tokens)")
    return _mention_cache(result.from_cache)


def read(client: SkillsiteClient, arguments: Namespace) -> int:
    skill = client.read(arguments.name, arguments.version)
    if arguments.format == "json":
        _json(skill)
    else:
        print_text(skill.instructions)
        print_note(f"{skill.summary} · version {skill.version} · {skill.digest}")
        if skill.hint:
            print_note(skill.hint)
        if skill.entry(WORKFLOW):
            print_note(f"This skill has a workflow. Start it with: skillsite-client run {skill.name}")
    return _mention_cache(skill.from_cache)


def file(client: SkillsiteClient, arguments: Namespace) -> int:
    result = client.file(arguments.name, arguments.path, arguments.version)
    if arguments.output:
        try:
            Path(arguments.output).write_bytes(result.content)
        except OSError as error:
            raise LocalProblem(f"Could not write {arguments.output}: {error.strerror or error}.") from error
    elif sys.stdout.isatty():
        try:
            print_text(result.text)
        except UnicodeDecodeError as error:
            raise LocalProblem(f"{arguments.path} is binary. Write it to a file with --output.") from error
    else:
        sys.stdout.buffer.write(result.content)
    return _mention_cache(result.from_cache)


def propose(client: SkillsiteClient, arguments: Namespace) -> int:
    proposal = client.propose(
        arguments.name,
        justification=arguments.why,
        kind="delete" if arguments.delete else None,
        skill_md=_text(arguments.skill_md),
        diff=_text(arguments.diff),
        base_digest=arguments.base,
        evidence=arguments.evidence,
    )
    print_line(f"Proposal {proposal.id} is {proposal.state}. Agents get the change after a person approves it.")
    return exit_codes.DONE


def _text(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return content.decode()
    except UnicodeDecodeError as error:
        raise LocalProblem(f"{path} is not UTF-8 text.") from error
    except OSError as error:
        raise LocalProblem(f"Could not read {path}: {error.strerror or error}.") from error


def _json(value: Any) -> None:
    print_text(json.dumps(dataclasses.asdict(value), ensure_ascii=not sys.stdout.isatty(), indent=2))


def _mention_cache(from_cache: bool) -> int:
    if from_cache:
        print_note(_FROM_CACHE)
    return exit_codes.DONE
