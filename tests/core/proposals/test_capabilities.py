"""Capabilities of a skill: found if they are written plainly, and compared between two versions."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.limits import Limits
from registry.core.proposals import assessment, capabilities
from registry.core.proposals.capabilities import Capabilities, Kind
from registry.core.proposals.risk import Risk
from tests import cpu, effort

HEADER = "---\nname: trip\ndescription: Plans a trip for the team. Use when somebody travels.\n---\n"


def skill(body: str = "Do it.\n", header: str = HEADER, **files: bytes) -> Bundle:
    return Bundle({SKILL_MD: (header + body).encode(), **files})


def names(body: str, kind: Kind, **files: bytes) -> tuple[str, ...]:
    return capabilities.of(skill(body, **files)).names(kind)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("See https://example.com/page.", "example.com"),
        ("See HTTPS://Example.COM:8443/page", "example.com"),
        ("[docs](http://docs.example.com)", "docs.example.com"),
        ("https://trusted.example@evil.example/x", "evil.example"),
        ("git clone git@code.example:team/repo", "code.example"),
        ("wss://[2001:db8::1]/feed", "[2001:db8::1]"),
        ("http://127.0.0.1:9000/", "127.0.0.1"),
    ],
)
def test_hosts_are_found_in_any_surrounding_text(text: str, host: str) -> None:
    assert names(text, Kind.HOST) == (host,)


@pytest.mark.parametrize("text", ["a path/like/this", "an e-mail to me@example.com", "ratio 3:4", "file://x"])
def test_other_text_is_not_a_host(text: str) -> None:
    assert names(text, Kind.HOST) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```bash\nkubectl get pods | grep web && helm ls\n```", ("grep", "helm", "kubectl")),
        ("```sh\nA=1 sudo -n systemctl restart web\n```", ("sudo", "systemctl")),
        ("```console\n$ made-up-tool --now\n```", ("made-up-tool",)),
        ("Run `curl -s x | bash` first.", ("bash", "curl")),
        ("```\ngit clone x\nsome words\n```", ("git",)),
        ("```sh\n# rm -rf is only a comment\necho done\n```", ()),
        ("```sh\necho 'rm -rf /'\n```", ()),
        ("Write `notes` and `the plan` by hand.", ()),
        ("```python\nfor line in text: print(line)\n```", ()),
    ],
)
def test_commands_are_the_programs_that_code_starts(text: str, found: tuple[str, ...]) -> None:
    assert names(text, Kind.COMMAND) == found


def test_shell_script_has_its_commands_but_not_its_functions() -> None:
    script = b"#!/bin/sh\nfinish() { rm -f x; }\nfinish\nnmap -p 1 host\n"
    assert names("x", Kind.COMMAND, **{"scripts/run": script}) == ("nmap", "rm")


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ("Set $API_TOKEN first", "API_TOKEN"),
        ("Use ${API_TOKEN} here", "API_TOKEN"),
        ("os.environ['API_TOKEN']", "API_TOKEN"),
        ('os.environ.get("API_TOKEN")', "API_TOKEN"),
        ("process.env.API_TOKEN", "API_TOKEN"),
        ("$env:API_TOKEN", "API_TOKEN"),
    ],
)
def test_environment_variables_are_found_in_several_languages(text: str, variable: str) -> None:
    assert names(text, Kind.VARIABLE) == (variable,)


def test_prices_and_small_letters_are_no_variables() -> None:
    assert names("It costs $5 or $US, and $total is a sum.", Kind.VARIABLE) == ()


def test_tools_come_from_the_header_and_from_the_text() -> None:
    header = HEADER.replace("---\n", "---\nallowed-tools: Read, Bash(git:*)\n", 1)
    found = capabilities.of(skill("Call mcp__mail__send.", header)).names(Kind.TOOL)
    assert found == ("Bash(git:*)", "Read", "mcp__mail__send")


@pytest.mark.parametrize("path", ["scripts/a.txt", "run.py", "tool/go.sh", "setup.exe"])
def test_scripts_are_known_by_where_they_lie_and_what_they_are_called(path: str) -> None:
    assert names("x", Kind.SCRIPT, **{path: b"text"}) == (path,)


def test_a_script_without_an_ending_is_known_by_its_first_line() -> None:
    assert names("x", Kind.SCRIPT, run=b"#!/usr/bin/env python3\n") == ("run",)


def test_a_reference_is_no_script() -> None:
    assert names("x", Kind.SCRIPT, **{"references/a.md": b"text"}) == ()


def test_the_place_is_the_first_one() -> None:
    found = capabilities.of(skill("One\nhttps://a.example\nhttps://a.example\n")).found
    assert [(each.name, each.file, each.line) for each in found] == [("a.example", SKILL_MD, 6)]


def test_a_difference_lists_added_and_removed_capabilities() -> None:
    before = capabilities.of(skill("https://old.example and $OLD_KEY"))
    after = capabilities.of(skill("https://new.example and $OLD_KEY"))
    found = capabilities.difference(before, after)
    assert [each.name for each in found.added] == ["new.example"]
    assert [each.name for each in found.removed] == ["old.example"]
    assert found.changed == ()


def test_a_script_with_other_content_is_changed_and_neither_new_nor_gone() -> None:
    before, after = (capabilities.of(skill("x", **{"scripts/a.py": content})) for content in (b"1", b"2"))
    found = capabilities.difference(before, after)
    assert ([each.name for each in found.changed], found.added, found.removed) == (["scripts/a.py"], (), ())


@pytest.mark.parametrize("script", [b"\n" * 12_000, b'"' + b'\\"' * 6_000], ids=["blank lines", "an open quote"])
def test_a_script_of_one_sign_is_read_in_a_moment(script: bytes) -> None:
    assert cpu.within(1, lambda: names("Run `run.sh`.\n", Kind.COMMAND, **{"run.sh": script})) == ()


def test_text_that_is_too_long_makes_the_result_partial() -> None:
    limits = Limits(text_read_bytes=10)
    assert capabilities.of(skill("x", **{"notes.md": b"https://a.example"}), limits=limits).partial
    assert not capabilities.of(skill("x", **{"a.png": b"\0" * 20}), limits=limits).partial


@settings(max_examples=effort.examples(60))
@given(st.text(alphabet="ab =$`'\"|&;()\n/.:@-#{}[]<>~\\", max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    found = capabilities.of(skill(f"```sh\n{text}\n```\n{text}"))
    assert capabilities.difference(found, found) == capabilities.Difference()
    assert capabilities.difference(Capabilities(), found).added == found.found


def assess(before: Bundle | None, after: Bundle | None) -> assessment.Assessment:
    return assessment.assess(before, after, name="trip")


def test_a_change_of_words_is_of_low_risk() -> None:
    found = assess(skill("Walk to the train.\n"), skill("Walk to the bus.\n"))
    assert (found.risk, found.reasons, found.findings_added) == (Risk.LOW, (), ())


@pytest.mark.parametrize(
    ("after", "risk", "reason"),
    [
        (skill("Ask https://a.example first."), Risk.HIGH, "It adds the host a.example."),
        (skill("x", **{"scripts/a.py": b"1"}), Risk.HIGH, "It adds the script scripts/a.py."),
        (skill("Call mcp__mail__send."), Risk.HIGH, "It uses the tool mcp__mail__send."),
        (skill("Run `git pull`."), Risk.MEDIUM, "It adds the command git."),
        (skill("Set $API_TOKEN."), Risk.MEDIUM, "It reads the environment variable API_TOKEN."),
        (skill("Zero\u200bwidth."), Risk.HIGH, "SKILL.md, line 5: "),
        (skill("See [it](references/none.md)."), Risk.MEDIUM, "The skill has no file references/none.md"),
        (skill("word " * 1_200), Risk.MEDIUM, "Each load costs about"),
        (skill("Do it.\n", HEADER.replace("Plans", "Books")), Risk.MEDIUM, "The description changes"),
    ],
)
def test_the_risk_of_a_change_has_a_reason(after: Bundle, risk: Risk, reason: str) -> None:
    found = assess(skill(), after)
    assert found.risk is risk
    assert reason in found.reasons[0]


def test_new_and_vanishing_skills_are_of_medium_risk() -> None:
    assert assess(None, skill()).risk is Risk.MEDIUM
    assert assess(skill(), None).risk is Risk.MEDIUM


def test_reasons_start_with_the_highest_risk() -> None:
    found = assess(skill(), skill("Run `git pull` from https://a.example."))
    assert found.reasons == ("It adds the host a.example.", "It adds the command git.")


def test_a_finding_that_only_moves_is_not_new() -> None:
    before, after = skill("See [it](references/none.md).\n"), skill("One more line.\n\nSee [it](references/none.md).\n")
    found = assess(before, after)
    assert (found.findings_added, found.findings_removed) == ((), ())


def test_removed_finding_is_listed() -> None:
    found = assess(skill("See [it](references/none.md).\n"), skill())
    assert [each.rule for each in found.findings_removed] == ["file-missing"]
    assert found.risk is Risk.LOW


def test_cost_covers_a_load_and_every_prompt() -> None:
    longer = skill("A much longer text than before.\n", HEADER.replace("a trip", "a long trip"))
    found = assess(skill("Short.\n"), longer)
    assert found.tokens > 0
    assert found.catalog_tokens > 0
    assert "a trip" in found.before.line and "a long trip" in found.after.line
