"""The installed clients, each in its own environment below .venv."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".venv" / "clients"

PYTHON = ("fastmcp==4.1.2", "agent-framework-core==1.23.0")
NODE_20 = ("skills@1.5.18", "@anthropic-ai/claude-code@2.1.197")
NODE_22 = (
    "node@22.23.3",
    "skills@1.7.4",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
)


def install() -> None:
    """Install the clients that are missing or have another version."""
    install_python()
    for directory, packages in ((HOME / "node-20", NODE_20), (HOME / "node-22", NODE_22)):
        if _wants(directory, packages):
            directory.mkdir(parents=True, exist_ok=True)
            # Some clients need a newer Node than the one that installs them. They run with their own.
            _run(
                [
                    "npm",
                    "install",
                    "--silent",
                    "--no-audit",
                    "--no-fund",
                    "--force",
                    "--prefix",
                    str(directory),
                    *packages,
                ]
            )
            _note(directory, packages)


def install_python() -> None:
    python = HOME / "python"
    if _wants(python, PYTHON):
        _run([sys.executable, "-m", "venv", str(python)])
        _run([str(python / "bin" / "pip"), "install", "--quiet", *PYTHON])
        _note(python, PYTHON)


def python() -> Path:
    return HOME / "python" / "bin" / "python"


def node_20(command: str) -> list[str]:
    """Return the command for the machine's Node."""
    return ["node", str((HOME / "node-20" / "node_modules" / ".bin" / command).resolve())]


def node_22(command: str) -> list[str]:
    binaries = HOME / "node-22" / "node_modules" / ".bin"
    return [str((binaries / "node").resolve()), str((binaries / command).resolve())]


def claude() -> list[str]:
    """Return the command for Claude Code, a native program."""
    return [str((HOME / "node-20" / "node_modules" / ".bin" / "claude").resolve())]


def environment(home: Path) -> dict[str, str]:
    """Return an environment with a separate home directory and telemetry switched off."""
    kept = {
        name: os.environ[name]
        for name in ("PATH", "LANG", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")
        if name in os.environ
    }
    quiet = dict.fromkeys(
        ("DISABLE_TELEMETRY", "DO_NOT_TRACK", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"), "1"
    )
    quiet |= {"CI": "1", "NO_COLOR": "1"}
    return {**kept, **quiet, "HOME": str(home), "PYTHONUTF8": "1"}


def _wants(directory: Path, packages: tuple[str, ...]) -> bool:
    note = directory / "installed.txt"
    return not note.is_file() or note.read_text() != "\n".join(packages)


def _note(directory: Path, packages: tuple[str, ...]) -> None:
    (directory / "installed.txt").write_text("\n".join(packages))


def _run(command: list[str]) -> None:
    print(f"  installing: {' '.join(command[-4:])}", flush=True)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
