"""The analysis of a skill is the same whether its header was parsed or its row was read."""

from pathlib import Path
from typing import Any

import pytest

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.routing import analysis, skill_text
from registry.models import Project
from registry.services.catalog import catalog
from registry.services.permissions import Actor
from registry.services.routing import analysed_skills
from tests.prepared import create_skill

PLAIN = """---
name: refunds
description: "Answers refund requests: who pays, and when."
metadata:
  tags: "money, support"
  triggers: "money back, chargeback"
---

# How we refund

For bookings, see `billing`.
"""


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (PLAIN, "How we refund"),
        (PLAIN.replace("metadata:\n", 'metadata:\n  title: "Refunds, step by step"\n'), "Refunds, step by step"),
        (PLAIN.replace("# How we refund\n", "Ask for the order.\n"), "Refunds"),
        (PLAIN.replace("\n", "\r\n"), "How we refund"),
    ],
    ids=["heading", "title in the header", "neither", "CRLF"],
)
def test_a_row_and_a_parsed_header_give_the_same_analysis(
    text: str, title: str, project: Project, author: Actor, tmp_path: Path, settings: Any
) -> None:
    settings.SKILLSITE_DATA = tmp_path / "data"
    create_skill(project, Bundle({SKILL_MD: text.encode()}), by=author)
    project.refresh_from_db()
    served = catalog.view(project.pk, project.revision).served
    candidate = next(each for each in served if each.name == "refunds")
    found = analysed_skills.of(project.pk, [candidate], None)["refunds"]
    assert found.title == title
    assert found.to_bytes() == analysis.analyse(skill_text.read("refunds", text)).to_bytes()
