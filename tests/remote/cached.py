"""Places in the cache, and files that a test puts there."""

from pathlib import Path

WEB = "https://skills.example.org/a.zip"


def version_directory(root: Path, name: str = "a", number: str = "1") -> Path:
    return root / "skills" / name / number


def by_hand(root: Path, **files: bytes) -> Path:
    target = version_directory(root)
    target.mkdir(parents=True)
    for name, content in files.items():
        (target / name.replace("__", ".")).write_bytes(content)
    return target


def leftovers(root: Path) -> list[str]:
    return [str(path) for path in root.rglob(".*") if path.name.startswith((".new-", ".old-"))]


def records_of(root: Path, number: str = "1") -> list[Path]:
    return sorted((root / "skills" / "a" / ".records" / number).glob("*.json"))
