"""The lock files in requirements/: complete, hashed, and without a host."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
SITE = [*PYPROJECT["project"]["dependencies"], *EXTRAS["server"]]
DEPLOY = [*SITE, *EXTRAS["redis"], *EXTRAS["s3"]]
DEV = [*DEPLOY, *PYPROJECT["dependency-groups"]["dev"]]


def lock(name: str) -> str:
    return (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")


def locked(name: str) -> dict[str, dict[str, str]]:
    """Return the options (the hashes) of each locked requirement, by canonical name and by requirement."""
    pins: dict[str, dict[str, str]] = {}
    text = re.sub(r"^ *#.*\n", "", lock(name), flags=re.MULTILINE)
    for line in text.replace("\\\n", " ").splitlines():
        requirement, _, options = line.partition(" --")
        pins.setdefault(canonicalize_name(Requirement(requirement).name), {})[requirement.strip()] = f"--{options}"
    return pins


@pytest.mark.parametrize("name", ["run", "deploy", "dev"])
def test_every_locked_requirement_has_one_version_and_hashes(name: str) -> None:
    for requirements in locked(name).values():
        for requirement, options in requirements.items():
            assert re.fullmatch(r"[\w.-]+(\[[\w,-]+\])?==[^\s;*]+( ;.+)?", requirement)
            assert re.fullmatch(r"(--hash=sha256:[0-9a-f]{64}\s*)+", options), requirement


@pytest.mark.parametrize("name", ["run", "deploy", "dev"])
def test_a_lock_file_names_no_host(name: str) -> None:
    assert not re.search(r"://|\bindex-url\b|\bfind-links\b|\btrusted-host\b| @ |\.(org|com|net|io)\b", lock(name))


@pytest.mark.parametrize(("name", "wanted"), [("run", SITE), ("deploy", DEPLOY), ("dev", DEV)])
def test_a_lock_file_meets_every_requirement_of_pyproject(name: str, wanted: list[str]) -> None:
    found = locked(name)
    for requirement in map(Requirement, wanted):
        pins = found[canonicalize_name(requirement.name)]
        versions = [next(iter(Requirement(pin).specifier)).version for pin in pins]
        assert all(requirement.specifier.contains(version) for version in versions), (str(requirement), versions)


@pytest.mark.parametrize("name", ["run", "deploy"])
def test_the_site_runs_with_the_versions_that_are_tested(name: str) -> None:
    tested = locked("dev")
    assert all(pins == tested[package] for package, pins in locked(name).items())


@pytest.mark.parametrize("file", ["Makefile", "Dockerfile"])
def test_the_site_is_installed_from_the_lock_only(file: str) -> None:
    installs = re.findall(r"pip install .+", (ROOT / file).read_text(encoding="utf-8"))
    assert installs
    for line in installs:
        assert "--require-hashes --requirement" in line or line.endswith("uv==0.13.8"), line
