"""SKILL.md as the fields that routing reads."""

import pytest

from registry.core.routing import skill_text
from registry.core.routing.exclusions import Mention, split


def read(description: str, body: str = "", more: str = "") -> skill_text.SkillText:
    return skill_text.read("refunds", f'---\nname: refunds\ndescription: "{description}"\n{more}---\n\n{body}')


@pytest.mark.parametrize(
    ("description", "kept", "gone"),
    [
        ("Pays refunds. Do not use for invoices.", "refunds", "invoices"),
        ("Pays refunds. DO NOT USE FOR: invoices, cheques (use billing).", "refunds", "cheques"),
        ("Pays refunds. Not for invoices.", "refunds", "invoices"),
        ("Pays refunds. For invoices, see billing.", "refunds", "invoices"),
        ("Pays refunds. Skip when: the invoice is open; use billing.", "refunds", "invoice"),
        ("Don't use this skill for invoices. Pays refunds.", "refunds", "invoices"),
        ("Pays refunds. DO NOT USE FOR: invoices. WHEN: money back, chargeback.", "chargeback", "invoices"),
    ],
)
def test_parts_that_exclude_a_use_are_left_out(description: str, kept: str, gone: str) -> None:
    text = read(description).description
    assert kept in text
    assert gone not in text


@pytest.mark.parametrize(
    ("description", "mention"),
    [
        ("Pays refunds. For open invoices, see billing.", Mention("billing", "For open invoices")),
        ("Pays refunds. Do not use for: open invoices (use billing-desk).", "billing-desk"),
        ("Pays refunds (open invoices: use billing).", "billing"),
    ],
)
def test_other_skills_are_collected_with_what_is_said_of_them(description: str, mention: Mention | str) -> None:
    mentions = split(description)[1]
    if isinstance(mention, Mention):
        assert mention in mentions
    else:
        assert [(found.name, "invoices" in found.text) for found in mentions] == [(mention, True)]


@pytest.mark.parametrize(
    "description",
    [
        "Use when a parcel does not load or a discount will not apply.",
        "Use for shops whose customers don't use the portal.",
        'Use when somebody says "never use this shop again" or "not for me".',
        "Use when customers prefer cheques over cards.",
        "Use when the till is slow, or not responding.",
    ],
)
def test_a_sentence_that_negates_something_else_is_kept(description: str) -> None:
    assert split(description) == (description, [])


@pytest.mark.parametrize(
    ("description", "kept"),
    [
        ("Use for refunds, cheques (not for invoices), chargebacks.", "Use for refunds, cheques , chargebacks."),
        ("Use for refunds; not for invoices, see billing.", "Use for refunds"),
        ("Pays refunds, not invoices, and books them.", "Pays refunds, and books them."),
    ],
)
def test_only_the_negative_part_of_a_sentence_is_left_out(description: str, kept: str) -> None:
    assert read(f"{description} Quick.").description == f"{kept} Quick."


def test_a_description_that_only_excludes_is_kept() -> None:
    assert read("Do not use for invoices.").description == "Do not use for invoices."


def test_sections_become_lead_headings_and_body() -> None:
    text = read(
        "Pays refunds.",
        "# Refunds\n\nMoney goes back.\n\n## When to use\n\nA parcel was lost.\n\n## Steps\n\n1. Open the ledger.\n\n"
        "## When not to use\n\nFor cheques.\n\n## Related skills\n\n- **billing**: open invoices\n",
    )
    assert text.title == "Refunds"
    assert "Money goes back." in text.lead
    assert "parcel" in text.lead
    assert "Steps" in text.headings
    assert "ledger" in text.body
    assert "cheques" not in text.lead + text.body + text.headings
    assert Mention("billing", "open invoices") in text.mentions


def test_a_hash_in_a_code_block_is_no_heading() -> None:
    text = read("Pays refunds.", "# Refunds\n\n```sh\n# install\nrun\n```\n\n## Steps\n")
    assert text.headings.strip() == "Steps"


def test_quoted_phrases_sentences_and_triggers_are_phrases() -> None:
    text = read("Pays refunds. Use for 'money back', or 'lost parcel'.", more="triggers: [chargeback]\n")
    assert {"chargeback", "money back", "lost parcel", "Pays refunds"} <= set(text.phrases)


@pytest.mark.parametrize("content", [b"", b"no header", b"\xff\xfe\0", b"---\nname: [\n---\nrefund"])
def test_a_file_that_does_not_parse_is_read_as_text(content: bytes) -> None:
    text = skill_text.read("refunds", content)
    assert (text.name, text.description) == ("refunds", "")
