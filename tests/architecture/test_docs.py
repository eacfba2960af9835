"""What the documents say is there: settings, commands, checks, pictures and the pages they point to."""

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
OPERATING = (ROOT / "docs" / "operating.md").read_text()
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md")]
# Read by tools that others made; the row about files is no variable either.
NOT_OURS = {"NAME_FILE", "SSL_CERT_FILE"}
OF_DJANGO = {"check", "collectstatic"}


def sources(*directories: str) -> str:
    return "\n".join(path.read_text() for directory in directories for path in sorted((ROOT / directory).rglob("*.py")))


def anchors(text: str) -> set[str]:
    """As code hosts make them of headings."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_setting_is_documented_and_no_other() -> None:
    read = set(re.findall(r'\benv\.\w+\(\s*"([A-Z0-9_]+)"', sources("skillsite", "registry")))
    assert read
    assert set(re.findall(r"`([A-Z][A-Z0-9_]+)`", OPERATING)) - NOT_OURS == read


def test_every_check_is_documented_and_no_other() -> None:
    made = set(re.findall(r'id="(skillsite\.[EW]\d+)"', sources("registry")))
    assert made
    assert set(re.findall(r"`(skillsite\.[EW]\d+)`", OPERATING)) == made


def test_every_command_is_documented_and_no_other() -> None:
    commands = {path.stem for path in (ROOT / "registry" / "management" / "commands").glob("[a-z]*.py")}
    assert set(re.findall(r"manage\.py (\w+)", OPERATING)) - OF_DJANGO == commands


def test_make_help_lists_every_target_that_the_documents_name() -> None:
    makefile = (ROOT / "Makefile").read_text()
    listed = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    assert listed == set("".join(re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)).split())
    code = re.findall(
        r"`[^`\n]+`|^```.+?^```", "".join(path.read_text() for path in DOCUMENTS), re.MULTILINE | re.DOTALL
    )
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", "\n".join(code), re.MULTILINE)) <= listed


def test_every_service_has_its_place_on_the_map() -> None:
    table = (
        (ROOT / "ARCHITECTURE.md").read_text().partition("The services by what they are about:")[2].partition("## ")[0]
    )
    listed = re.findall(r"`(\w+)`", table)
    assert sorted(listed) == sorted(path.stem for path in (ROOT / "registry" / "services").rglob("[a-z]*.py"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(document: Path) -> None:
    text = document.read_text()
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        if path.startswith("https:"):
            continue
        target = document.parent / path if path else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text()), link


def test_every_picture_is_shown() -> None:
    shown = set(re.findall(r"screenshots/([\w-]+\.png)", "".join(path.read_text() for path in DOCUMENTS)))
    assert {path.name for path in (ROOT / "docs" / "screenshots").iterdir()} == shown
