"""Rules of the strictest clients, and the header as other YAML parsers read it."""

import pytest

from registry.core.bundle import FileEntry
from registry.core.format import client_compat, skill_md
from registry.core.limits import Limits


def fault(header: str, files: tuple[FileEntry, ...] = (), name: str = "offers") -> str:
    document = skill_md.read(f"---\n{header}\n---\nBody.\n", fallback_name=name).document
    return client_compat.skill_fault(name, document, files)


PLAIN = 'name: offers\ndescription: "Writes offers."'


@pytest.mark.parametrize(
    "more",
    [
        "",
        "license: MIT",
        "compatibility: Any",
        "allowed-tools: Read Write",
        'metadata:\n  version: "1.0"',
        "tags: [a]",
        "n: 3",
    ],
)
def test_a_valid_skill_has_no_problem(more: str) -> None:
    assert fault(f"{PLAIN}\n{more}") == ""


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (f"{PLAIN}\nmetadata:\n  version: 1.0", "metadata.version"),
        (f"{PLAIN}\nmetadata:\n  number: 3", "metadata.number"),
        (f"{PLAIN}\nmetadata:\n  on: true", "metadata.on"),
        (f"{PLAIN}\nmetadata:\n  nothing:", "metadata.nothing"),
        (f"{PLAIN}\nmetadata:\n  deep:\n    er: x", "metadata.deep"),
        (f"{PLAIN}\nmetadata:\n  many: [a]", "metadata.many"),
        (f"{PLAIN}\nmetadata: text", "metadata is not a map"),
        (f"{PLAIN}\nallowed-tools: [Read]", "allowed-tools"),
        (f"{PLAIN}\nlicense: 3", "license"),
        (f'{PLAIN}\ncompatibility: ""', "compatibility"),
        (f"{PLAIN}\ncompatibility: {'x' * 501}", "501"),
        (f"name: offers\ndescription: {'x' * 1_025}", "1,025 characters. 1,024 are allowed"),
        ("name: Offers\ndescription: x", "name in its header is not"),
        ("description: x", "name in its header is not"),
        ("name: offers\ndescription: use when: asked", "not valid YAML"),
    ],
)
def test_each_rule_of_strict_clients_is_reported(header: str, said: str) -> None:
    assert said in fault(header)


@pytest.mark.parametrize("name", ["über", "a--b", "-a", "a_b", "x" * 65, "a b"])
def test_a_name_that_clients_reject_is_reported(name: str) -> None:
    assert "Its name" in client_compat.listing_fault(name, "Fine.")


@pytest.mark.parametrize("description", ["", " ", "x" * 1_025])
def test_a_description_that_clients_reject_is_reported(description: str) -> None:
    assert "Its description" in client_compat.listing_fault("offers", description)


def test_the_limits_of_mcp_are_exact() -> None:
    limits = Limits()
    most = tuple(FileEntry(f"{n}", 1, "0" * 64) for n in range(limits.mcp_files))
    assert fault(PLAIN, most) == ""
    assert "513 files. 512 are allowed" in fault(PLAIN, (*most, most[0]))
    assert fault(PLAIN, (FileEntry("x", limits.mcp_bytes, ""),)) == ""
    assert "are allowed over MCP" in fault(PLAIN, (FileEntry("x", limits.mcp_bytes + 1, ""),))


def test_as_json_turns_only_numbers_into_numbers() -> None:
    header = (
        "name: x\ndescription: y\na: 1.50\nb: 07\nc: -3\nd: 2026-01-01\ne: yes\nf: true\ng: ~\nh: '3'\ni: 1e3\n"
        "j: [a, 'b']\nk:\n  l: 2.5\n  m: '2.5'"
    )
    document = skill_md.read(f"---\n{header}\n---\n").document
    assert client_compat.as_json(document) == {
        "name": "x", "description": "y", "a": 1.5, "b": 7, "c": -3, "d": "2026-01-01", "e": "yes", "f": True, "g": None,
        "h": "3", "i": "1e3", "j": ["a", "b"], "k": {"l": 2.5, "m": "2.5"},
    }  # fmt: skip
