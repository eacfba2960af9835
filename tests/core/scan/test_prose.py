"""Orders in prose are found by their facts in fifteen languages, and honest sentences raise no alarm."""

from pathlib import Path

import pytest
import yaml

from registry.core.scan.names import imitated
from tests.core.scan.bodies import rules_of

DIRECTORY = Path(__file__).parent / "prose"


def paragraphs(name: str) -> list[object]:
    texts: dict[str, str] = yaml.load((DIRECTORY / f"{name}.yaml").read_text(), yaml.CSafeLoader)
    return [pytest.param(text, id=key) for key, text in texts.items()]


@pytest.mark.parametrize("body", paragraphs("harmful"))
def test_a_harmful_order_is_found(body: str) -> None:
    assert rules_of(body)


@pytest.mark.parametrize("body", paragraphs("harmless"))
def test_a_harmless_sentence_raises_no_alarm(body: str) -> None:
    assert rules_of(body) == set()


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("dcox", "docx"),
        ("docxx", "docx"),
        ("xslx", "xlsx"),
        ("skillcreator", "skill-creator"),
        ("web-app-testing", "webapp-testing"),
        ("skill-creators", "skill-creator"),
        ("ski11-creator", "skill-creator"),
        ("wrlting-plans", "writing-plans"),
    ],
)
def test_a_name_that_imitates_a_public_skill_is_found(name: str, other: str) -> None:
    assert list(imitated(name, ())) == [other]


@pytest.mark.parametrize("name", ["docs", "doc", "pdf", "docx-forms", "testing", "skill-writing", "plans"])
def test_another_name_imitates_nothing(name: str) -> None:
    assert list(imitated(name, ())) == []


def test_white_letters_on_a_colour_are_visible() -> None:
    text = "White letters that people can read well."
    assert rules_of(f'<p style="color:white; background:navy">{text}</p>') == set()
    assert rules_of(f'<p style="color:white">{text}</p>') == {"hidden-style"}


@pytest.mark.parametrize(("name", "known"), [("skill-12", "skill-21"), ("release-2031", "release-2013")])
def test_swapped_digits_are_no_typing_mistake(name: str, known: str) -> None:
    assert list(imitated(name, [known])) == []
    assert list(imitated("reelase-2031", ["release-2031"])) == ["release-2031"]
