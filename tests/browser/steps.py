"""Steps that several tests share. They work with and without JavaScript, wide and narrow."""

import io
import zipfile

from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.conftest import skill_text


def heading(page: Page) -> Locator:
    return page.get_by_role("heading", level=1)


def toast(page: Page, words: str) -> Locator:
    return page.get_by_role("status").filter(has_text=words)


def look_until(page: Page, path: str, words: str) -> None:
    """Reload until the words appear, for changes that the server notices with a delay: it checks its skills directories
    once a second, and a closing window sends its draft in the background."""
    for _ in range(200):
        page.goto(path)
        if page.get_by_text(words).count():
            return
    raise AssertionError(f"{path} never showed {words!r}")


def pass_a_second(page: Page) -> None:
    """Fire the timers of the next second now. Drafts are saved and jobs checked within a second."""
    page.clock.fast_forward(1_000)


def write(page: Page, name: str, *, description: str = "", instructions: str = "") -> None:
    """Fill in the form of a new skill."""
    page.get_by_label("Name", exact=True).fill(name)
    said = description or f"Does what {name} does for the shop. Use when somebody asks for {name}."
    page.get_by_label("Description").fill(said)
    page.get_by_role("textbox", name="Instructions").fill(instructions or f"# {name}\n\nFold the paper twice.")


def publish(page: Page, version: int, note: str = "") -> None:
    page.get_by_role("button", name=f"Publish version {version}").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("What changed").fill(note)
    dialog.get_by_role("button", name=f"Publish version {version}").click()
    expect(toast(page, f"Version {version} of")).to_be_visible()


def choose_file(page: Page, name: str, content: bytes, *, script: bool) -> None:
    """Choose a file on the upload page. JavaScript uploads it at once; without it, press the button."""
    payload: FilePayload = {"name": name, "mimeType": "application/zip", "buffer": content}
    page.locator("#f-file").set_input_files(payload)
    if not script:
        page.get_by_role("button", name="Preview").click()


def mac_zip(name: str, files: dict[str, bytes]) -> bytes:
    """Return a zip as the macOS Finder makes it, with a top folder, resource forks and .DS_Store files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}/", b"")
        archive.writestr(f"{name}/.DS_Store", b"\0\0\0\1Bud1" + bytes(64))
        for path, content in {"SKILL.md": skill_text(name).encode(), **files}.items():
            archive.writestr(f"{name}/{path}", content)
            folder, _, file = f"{name}/{path}".rpartition("/")
            archive.writestr(f"__MACOSX/{folder}/._{file}", b"\0\5\x16\7" + bytes(40))
        archive.writestr(f"__MACOSX/._{name}", b"\0\5\x16\7" + bytes(40))
    return buffer.getvalue()
