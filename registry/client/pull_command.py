"""The command `pull`."""

import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from registry.client import directories, exit_codes
from registry.client.client import SkillsiteClient
from registry.client.errors import Misconfigured
from registry.client.output import note, say
from registry.client.progress import Bar
from registry.client.pull import Report
from registry.client.pull import check as check_directory
from registry.client.pull import pull as pull_directory
from registry.client.pull_plan import Step


def pull(client: SkillsiteClient, given: Namespace) -> int:
    if not given.directory and not given.agent:
        raise Misconfigured("Name the directory to place the skills in, or say which agent reads them with --for.")
    directory = directories.skills_directory(given.directory or ".", given.agent)
    return _check(client, directory) if given.check else _pull(client, directory, force=given.force)


def _check(client: SkillsiteClient, directory: Path) -> int:
    steps = check_directory(client, directory)
    for step in steps:
        say(str(step))
    if not steps:
        say(f"{directory} is up to date.")
        return exit_codes.DONE
    if any(step.is_change for step in steps):
        note(f"{directory} is out of date. Pull to bring it up to date.")
    else:
        note(f"{directory} differs from the project, and a pull leaves it as it is.")
    _mention_force(steps)
    return exit_codes.DIFFERS


def _pull(client: SkillsiteClient, directory: Path, *, force: bool) -> int:
    bar = Bar(sys.stderr, shown=sys.stderr.isatty())
    try:
        report = pull_directory(
            client,
            directory,
            force=force,
            progress=bar,
            waiting=lambda: note(f"Another pull is at work in {directory}. Waiting for it."),
        )
    finally:
        bar.clear()
    for step in report.done:
        say(str(step))
    _mention(report)
    if report.failed:
        return exit_codes.UNTRUSTWORTHY
    if report.complete:
        count = "one skill" if report.skills == 1 else f"{report.skills:,} skills"
        say(f"{directory} has the {count} of {client.source}.")
    return exit_codes.DIFFERS if report.left else exit_codes.DONE


def _mention(report: Report) -> None:
    for step in report.left:
        note(f"{str(step).removesuffix('.')}. Left as it is.")
    _mention_force(report.left)
    for name, reason in report.failed:
        note(f"! {name}: {reason}")
    if report.from_cache:
        note("The site was not asked: this is the state of an earlier list, from the cache.")


def _mention_force(steps: Iterable[Step]) -> None:
    if any(step.action == "keep" for step in steps):
        note("To replace what was left, pull with --force. What was changed here is then gone.")
