"""The loaders for agent frameworks, each with its real framework and the wheel that the running site serves."""

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

from tests.clients import tools
from tests.clients.checks import Failed, run, same_files
from tests.clients.site import EXPECTED, INSTRUCTIONS, Site

_HERE = Path(__file__).parent
_REQUIREMENTS = _HERE / "loaders-requirements.txt"
_VENV = tools.HOME / "loaders"


def named() -> dict[str, Callable[[Site, Path], str]]:
    versions = [line.replace("==", " ") for line in _REQUIREMENTS.read_text().split()]
    scripts = ("agno_loader.py", "haystack_loader.py", "deepagents_loader.py")
    return {"pip: the wheel of the site": installed} | {
        f"{version}: loader": loader(script) for version, script in zip(versions, scripts, strict=True)
    }


def installed(site: Site, home: Path) -> str:
    """Install the frameworks once, and the wheel of this site on every run."""
    wanted = _REQUIREMENTS.read_text()
    note = _VENV / "installed.txt"
    pip = [str(_VENV / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
    if not note.is_file() or note.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", str(_VENV)], check=True)
        subprocess.run([*pip, "httpx~=0.28", "pyyaml~=6.0", "--requirement", str(_REQUIREMENTS)], check=True)
        note.write_text(wanted)
    with urllib.request.urlopen(f"{site.address}/client/", timeout=10) as answer:
        link = re.search(r'href="([^"]+\.whl#sha256=[0-9a-f]{64})"', answer.read().decode())
    if link is None:
        raise Failed("the page has no link to a wheel")
    subprocess.run([*pip, "--force-reinstall", "--no-deps", f"{site.address}/client/{link[1]}"], check=True)
    said = run(
        [str(_VENV / "bin" / "skillsite-client"), "pull", "--for", "claude-code"],
        home,
        SKILLSITE_URL=site.address,
        SKILLSITE_PROJECT="closed",
        SKILLSITE_TOKEN=site.token,
    )
    for name, files in EXPECTED.items():
        same_files(home / "work" / ".claude" / "skills" / name, files)
    return said.strip().splitlines()[-1]


def loader(script: str) -> Callable[[Site, Path], str]:
    def check(site: Site, home: Path) -> str:
        target = home / "out"
        command = [
            str(_VENV / "bin" / "python"),
            str(_HERE / "scripts" / script),
            site.address,
            site.token,
            str(target),
        ]
        said = run(command, home, HAYSTACK_TELEMETRY_ENABLED="false", AGNO_TELEMETRY="false")
        found = json.loads(next(line for line in reversed(said.splitlines()) if line.startswith("{")))
        if INSTRUCTIONS not in found["instructions"]:
            raise Failed(f"the instructions are {found['instructions']!r}")
        if not set(EXPECTED) <= set(found["names"]):
            raise Failed(f"found {found['names']}")
        for name in set(found.get("directories", ())) & set(EXPECTED):
            same_files(target / name, EXPECTED[name])
        return str(found["said"])

    return check
