"""Files of a skill: previews, raw files and the zip."""

import io
import zipfile

import pytest
from django.test import Client

from registry.core.bundle import Bundle
from registry.models import Project
from registry.services.permissions import Actor
from tests.conftest import skill_bundle
from tests.prepared import create_skill
from tests.web.skills.skill_pages import HERE, text

FILES = {
    "references/a.md": b"# A\n\n[b](b.md) [up](../SKILL.md) ![p](../assets/p.png)\n",
    "references/b.md": b"B",
    "assets/p.png": b"\x89PNG\r\n",
    "assets/evil.svg": b"<svg onload=alert(1)></svg>",
    "assets/evil.html": b"<script>alert(1)</script>",
    "data.csv": b"name,amount\nAda,1\n" + b"row,2\n" * 500,
    "run.py": b"print(1)\n",
    "blob.bin": b"\x00\x01",
    "long.txt": b"x" * 200_000,
}


@pytest.fixture
def filed(project: Project, author: Actor) -> Bundle:
    bundle = skill_bundle(files=FILES)
    create_skill(project, bundle, by=author)
    return bundle


def test_files_are_grouped_by_folder(filed: Bundle, viewing: Client) -> None:
    html = text(viewing.get(f"{HERE}files/"))
    assert "10 files" in html
    assert html.index("SKILL.md") < html.index("assets/") < html.index("references/")
    for path in filed:
        assert f'href="{HERE}files/{path}"' in html
        assert f'href="{HERE}raw/{path}?download=1"' in html


def test_markdown_files_are_rendered_with_links_relative_to_their_folder(filed: Bundle, viewing: Client) -> None:
    html = text(viewing.get(f"{HERE}files/references/a.md"))
    assert f'href="{HERE}files/references/b.md"' in html
    assert f'href="{HERE}files/SKILL.md"' in html
    assert f'<img src="{HERE}raw/assets/p.png" alt="p"' in html


def test_markdown_files_have_a_code_view(filed: Bundle, viewing: Client) -> None:
    assert '<li data-n="1"># A</li>' in text(viewing.get(f"{HERE}files/references/a.md?as=source"))


def test_a_csv_is_a_table_of_bounded_length(filed: Bundle, viewing: Client) -> None:
    html = text(viewing.get(f"{HERE}files/data.csv"))
    assert '<th scope="col">name</th>' in html
    assert "501 rows, 2 columns." in html
    assert html.count("<td>row</td>") == 199


def test_images_are_shown_and_code_has_line_numbers(filed: Bundle, viewing: Client) -> None:
    assert f'<img src="{HERE}raw/assets/p.png"' in text(viewing.get(f"{HERE}files/assets/p.png"))
    assert '<li data-n="1">print(1)</li>' in text(viewing.get(f"{HERE}files/run.py"))


@pytest.mark.parametrize(
    ("path", "said"), [("blob.bin", "is binary"), ("long.txt", "200,000 bytes. 128,000 are allowed")]
)
def test_a_file_without_preview_says_why(filed: Bundle, viewing: Client, path: str, said: str) -> None:
    html = text(viewing.get(f"{HERE}files/{path}"))
    assert "No preview" in html
    assert said in html


@pytest.mark.parametrize("path", ["assets/evil.svg", "assets/evil.html"])
def test_pages_in_a_bundle_are_shown_as_text(filed: Bundle, viewing: Client, path: str) -> None:
    html = text(viewing.get(f"{HERE}files/{path}"))
    assert "&lt;s" in html
    assert "<img" not in html


@pytest.mark.parametrize(
    ("path", "kind", "attached"),
    [("SKILL.md", "text/markdown; charset=utf-8", False), ("assets/p.png", "image/png", False),
     ("assets/evil.svg", "application/octet-stream", True), ("assets/evil.html", "application/octet-stream", True),
     ("blob.bin", "application/octet-stream", True)],
)  # fmt: skip
def test_raw_files_cannot_run_in_a_browser(
    filed: Bundle, viewing: Client, path: str, kind: str, attached: bool
) -> None:
    response = viewing.get(f"{HERE}raw/{path}")
    assert response.content == filed[path]
    assert response["Content-Type"] == kind
    assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert ("attachment" in response.get("Content-Disposition", "")) is attached


def test_a_download_is_an_attachment(filed: Bundle, viewing: Client) -> None:
    assert "attachment" in viewing.get(f"{HERE}raw/SKILL.md?download=1")["Content-Disposition"]


@pytest.mark.parametrize(
    "path", ["none.md", "../SKILL.md", "..%2f..%2fetc/passwd", "references", "SKILL.md/x", "/etc/passwd"]
)
def test_a_missing_file_is_not_found(filed: Bundle, viewing: Client, path: str) -> None:
    for part in ("files/", "raw/"):
        assert viewing.get(f"{HERE}{part}{path}").status_code in (404, 422)


def test_the_zip_holds_the_bundle(filed: Bundle, viewing: Client) -> None:
    response = viewing.get(f"{HERE}bundle.zip")
    assert response["Content-Disposition"] == "attachment; filename*=UTF-8''greeting.zip"
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == dict(filed)
