"""The documents name what exists: settings, commands, checks, folders, functions, pictures and links."""

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
OPERATING = (ROOT / "docs" / "operating.md").read_text()
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md")]
# The first is a pattern, and OpenSSL reads the second.
NOT_OUR_SETTINGS = {"NAME_FILE", "SSL_CERT_FILE"}
DJANGO_COMMANDS = {"check", "collectstatic"}
# Folders without Python modules of the site.
NOT_PACKAGES = {"golden", "library", "schemas", "vectors"}


def sources(*directories: str) -> str:
    return "\n".join(path.read_text() for directory in directories for path in sorted((ROOT / directory).rglob("*.py")))


def section(title: str) -> str:
    """Return the text of one section of ARCHITECTURE.md."""
    return ARCHITECTURE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def anchors(text: str) -> set[str]:
    """Return the anchors that code hosts derive from the headings of a document."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_operating_guide_lists_exactly_the_settings() -> None:
    settings_read = set(re.findall(r'\benv\.\w+\(\s*"([A-Z0-9_]+)"', sources("skillsite", "registry")))
    assert settings_read
    assert set(re.findall(r"`([A-Z][A-Z0-9_]+)`", OPERATING)) - NOT_OUR_SETTINGS == settings_read


def test_the_operating_guide_lists_exactly_the_checks() -> None:
    checks = set(re.findall(r'id="(skillsite\.[EW]\d+)"', sources("registry")))
    assert checks
    assert set(re.findall(r"`(skillsite\.[EW]\d+)`", OPERATING)) == checks


def test_the_operating_guide_lists_exactly_the_commands() -> None:
    commands = {path.stem for path in (ROOT / "registry" / "management" / "commands").glob("[a-z]*.py")}
    assert set(re.findall(r"manage\.py (\w+)", OPERATING)) - DJANGO_COMMANDS == commands


def test_make_help_lists_every_target_that_the_documents_name() -> None:
    makefile = (ROOT / "Makefile").read_text()
    listed = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    assert listed == set("".join(re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)).split())
    code = re.findall(
        r"`[^`\n]+`|^```.+?^```", "".join(path.read_text() for path in DOCUMENTS), re.MULTILINE | re.DOTALL
    )
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", "\n".join(code), re.MULTILINE)) <= listed


def test_the_architecture_lists_exactly_the_packages() -> None:
    listed = re.findall(r"^\| `([\w/]+)/` \|", section("Folders").partition("Outside `registry/`")[0], re.MULTILINE)
    packages = {path.parent.relative_to(ROOT / "registry").as_posix() for path in ROOT.glob("registry/**/__init__.py")}
    assert len(listed) == len(set(listed))
    assert set(listed) - NOT_PACKAGES == packages - {"."}


def test_every_path_in_the_architecture_exists() -> None:
    paths = re.findall(r"`(\w[\w./-]*/[\w./-]*)`", ARCHITECTURE)
    assert paths
    assert [path for path in paths if not any((root / path).exists() for root in (ROOT, ROOT / "registry"))] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_path_of_the_repository_in_a_document_exists(document: Path) -> None:
    ours = r"`((?:registry|skillsite|tests|templates|static|docs|bench|deploy|requirements)/[\w./-]*)`"
    assert [path for path in re.findall(ours, document.read_text()) if not (ROOT / path).exists()] == []


def test_every_function_in_the_walks_exists() -> None:
    named = re.findall(r"`(\w+)`\s+in\s+`([\w/]+\.py)`", section("Walks"))
    sources = {path: (ROOT / "registry" / path).read_text() for _, path in named}
    assert named
    assert [
        f"{name} in {path}"
        for name, path in named
        if not re.search(rf"^ *(def|class) {name}\b", sources[path], re.MULTILINE)
    ] == []


def test_every_walk_has_a_story_and_every_story_a_walk() -> None:
    walks = re.split(r"^### ", section("Walks"), flags=re.MULTILINE)[1:]
    linked = [re.findall(r"\]\((tests/flows/\w+\.py)\)", walk) for walk in walks]
    stories = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "flows").glob("test_*.py")}
    assert [len(links) for links in linked] == [1] * len(walks)
    assert {link for links in linked for link in links} == stories


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_has_a_target(document: Path) -> None:
    text = document.read_text()
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        if path.startswith("https:"):
            continue
        target = document.parent / path if path else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text()), link


def test_the_documents_show_exactly_the_screenshots() -> None:
    shown = set(re.findall(r"screenshots/([\w-]+\.png)", "".join(path.read_text() for path in DOCUMENTS)))
    assert {path.name for path in (ROOT / "docs" / "screenshots").iterdir()} == shown
