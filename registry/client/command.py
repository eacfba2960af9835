"""The command `skillsite-client`."""

import argparse
import os
import sys
from collections.abc import Sequence

from registry.client import errors, exit_codes, pull_command, read_commands, run_commands, settings
from registry.client.directories import DIRECTORIES
from registry.client.errors import ClientError
from registry.client.output import print_error, print_note

_CODES: tuple[tuple[type[ClientError], int], ...] = (
    (errors.Misconfigured, exit_codes.USAGE),
    (errors.Unreachable, exit_codes.UNREACHABLE),
    (errors.NotCached, exit_codes.UNREACHABLE),
    (errors.Refused, exit_codes.REFUSED),
    (errors.Untrustworthy, exit_codes.UNTRUSTWORTHY),
    (errors.LocalProblem, exit_codes.LOCAL),
)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    try:
        if arguments.run == _resolve:  # the only command that needs no site
            return _resolve(arguments)
        with settings.connect(
            url=arguments.url,
            project=arguments.project,
            token_file=arguments.token_file,
            cache_dir=arguments.cache,
            ca_file=arguments.ca_file,
            offline=arguments.offline,
            allow_http=arguments.allow_http,
        ) as client:
            code: int = arguments.run(client, arguments)
            sys.stdout.flush()
            return code
    except ClientError as error:
        print_error(error)
        return next(code for kind, code in _CODES if isinstance(error, kind))
    except UnicodeEncodeError:
        print_note("An argument or a setting is not valid UTF-8 text.")
        return exit_codes.USAGE
    except BrokenPipeError:
        # The reader of our output has closed the pipe. Without this, Python prints another error on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exit_codes.DONE
    except KeyboardInterrupt:
        return exit_codes.INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="skillsite-client",
        description="Read and pull the skills of a project, propose changes, and run workflows.",
        epilog=exit_codes.EXPLAINED,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--url", default="", help="address of the site (SKILLSITE_URL)")
    parser.add_argument("--project", default="", help="short name of the project (SKILLSITE_PROJECT)")
    parser.add_argument(
        "--token-file", default="", help="file that holds the token (SKILLSITE_TOKEN_FILE; or set SKILLSITE_TOKEN)"
    )
    parser.add_argument("--cache", default="", help="directory of the cache (SKILLSITE_CACHE)")
    parser.add_argument("--ca-file", default="", help="certificates to trust, in PEM (SKILLSITE_CA_FILE)")
    parser.add_argument("--offline", action="store_true", help="use only the cache")
    parser.add_argument(
        "--allow-http", action="store_true", help="send the token unencrypted to another machine (SKILLSITE_ALLOW_HTTP)"
    )
    commands = parser.add_subparsers(metavar="command", required=True)
    _add_reading(commands)
    _add_propose(commands)
    run_commands.add(commands)
    _add_pull(commands)
    _add_resolve(commands)
    return parser


def _add_reading(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    catalog = commands.add_parser("catalog", help="names and descriptions of the skills")
    for name, text in (("q", "some of these words"), ("tag", "this tag"), ("kind", "this kind: knowledge or tool")):
        catalog.add_argument(f"--{name}", default="", help=f"only skills with {text}")
    catalog.add_argument("--for", dest="for_prompt", default="", help="list the skills that fit this prompt first")
    catalog.add_argument("--budget", default="", help="maximum size: 2000 (tokens) or 8000c (characters)")
    catalog.add_argument("--format", choices=("text", "xml", "json"), default="text")
    catalog.set_defaults(run=read_commands.catalog)

    route = commands.add_parser("route", help="the skills for a question, best first")
    route.add_argument("question")
    route.add_argument("--limit", type=int, default=None, help="maximum number of skills; the default is 5")
    route.add_argument("--kind", default="", help="only skills of this kind: knowledge or tool")
    route.add_argument("--threshold", type=float, default=None, help="least probability; 0 lists the whole ranking")
    route.add_argument("--json", action="store_true", help="print the answer as JSON")
    route.set_defaults(run=read_commands.route)

    instructions = commands.add_parser("instructions", help="the instructions of an agent, with the list of skills")
    instructions.add_argument("--agent", default="", help="this agent instead of the one that the token belongs to")
    instructions.add_argument("--catalog", choices=("text", "xml", "none"), default="text", help="list of skills")
    instructions.add_argument("--budget", default="", help="maximum size of that list: 2000 (tokens) or 8000c")
    instructions.add_argument("--format", choices=("text", "json"), default="text")
    instructions.set_defaults(run=read_commands.instructions)

    read = commands.add_parser("read", help="the instructions of one skill")
    read.add_argument("name")
    read.add_argument("--version", default=None, help="this version instead of the current one")
    read.add_argument("--format", choices=("text", "json"), default="text")
    read.set_defaults(run=read_commands.read)

    file = commands.add_parser("file", help="one file of a skill")
    file.add_argument("name")
    file.add_argument("path")
    file.add_argument("--version", default=None, help="this version instead of the current one")
    file.add_argument("--output", "-o", default="", help="write it to this file")
    file.set_defaults(run=read_commands.file)


def _add_propose(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    propose = commands.add_parser("propose", help="propose a change, which people review")
    propose.add_argument("name")
    change = propose.add_mutually_exclusive_group(required=True)
    change.add_argument("--skill-md", metavar="FILE", help="the whole new SKILL.md; - reads standard input")
    change.add_argument("--diff", metavar="FILE", help="a unified diff; - reads standard input")
    change.add_argument("--delete", action="store_true", help="propose to delete the skill")
    propose.add_argument("--why", required=True, help="the justification that reviewers read")
    propose.add_argument("--evidence", action="append", default=[], help="what the change is based on; can be repeated")
    propose.add_argument("--base", default=None, help="digest of the version that you changed")
    propose.set_defaults(run=read_commands.propose)


def _add_pull(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    pull = commands.add_parser("pull", help="copy the skills of the project to a directory")
    pull.add_argument("directory", nargs="?", default="", metavar="DIR")
    pull.add_argument("--for", dest="agent", choices=sorted(DIRECTORIES), help="use the directory of this agent in DIR")
    pull.add_argument("--check", action="store_true", help="change nothing; exit with 1 if something differs")
    pull.add_argument("--force", action="store_true", help="replace skills that were edited or added by hand")
    pull.set_defaults(run=pull_command.pull)


def _add_resolve(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    resolve = commands.add_parser("resolve", help="fetch the skills that definitions name; needs no site")
    resolve.add_argument("definitions", metavar="FILE", help="definitions or a chat request, as JSON; - reads stdin")
    resolve.add_argument("--format", choices=("lines", "text", "xml", "json"), default="lines",
                         help="a line for each definition, the list of skills for a prompt, or JSON")  # fmt: skip
    resolve.add_argument("--budget", default="", help="maximum size of that list: 2000 (tokens) or 8000c")
    resolve.add_argument("--allow-host", action="append", default=[], metavar="HOST",
                         help="a host in a private network or without TLS; can be repeated")  # fmt: skip
    resolve.set_defaults(run=_resolve)


def _resolve(arguments: argparse.Namespace) -> int:
    from registry.client import resolve_command  # noqa: PLC0415 - no other command needs the resolver

    return resolve_command.run(arguments)
