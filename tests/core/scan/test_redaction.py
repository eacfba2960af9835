"""Redaction of texts that are kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.scan.redaction import redact
from tests import cpu

GITHUB = "ghp_" + "aB3dE5gH7jK9" * 3
SKILLSITE = "sks_" + "aB3dE5gH7jK_9-xYz" * 2 + "123456789"
JWT = ".".join(("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "c2lnbmF0dXJlLXZhbHVl"))

REMOVED = [
    (f"clone with {GITHUB} now", GITHUB),
    (f"why does {SKILLSITE} fail", SKILLSITE),
    (f"decode {JWT}", JWT),
    ("Authorization: Bearer abc-DEF.ghi_123", "abc-DEF.ghi_123"),
    ("curl -u with bearer 0123abcd4567", "0123abcd4567"),
    ("my password is hunter2", "hunter2"),
    ("my password is Tr0ub4dor&3", "&3"),
    ("the token sk-abcdef0123456789abcdef does not work", "abcdef0123456789"),
    ("password: 'hunter2'", "hunter2"),
    ('{"client_secret": "hunter2"}', "hunter2"),
    ("DB_PASSWORD=hunter2 make run", "hunter2"),
    ("the api key = abc", "abc"),
    ("https://anna:hunter2@example.com/x", "hunter2"),
    ("https://example.com/?token=hunter2&x=1", "hunter2"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----", "MIIEow"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEow", "MIIEow"),
    ("hash 5f4dcc3b5aa765d61d8327deb882cf99", "5f4dcc3b5aa765d61d8327deb882cf99"),
    ("key dGhpcyBpcyBh/IHNlY3JldA==8", "IHNlY3JldA"),
    ("write to anna.maier+x@mail.example.org please", "anna"),
    ("für jürgen@münchen.example", "jürgen"),
    ("card 4111 1111 1111 1111 was refused", "1111"),
    ("call +49 (170) 123-4567", "4567"),
    ("IBAN DE89 3704 0044 0532 0130 00", "0532"),
    ("customer 12345678", "12345678"),
]
KEPT = [
    "my pod keeps restarting",
    "how do I reply to an angry customer",
    "reset a password for somebody",
    "what is a token estimate",
    "invoice of 2026-11 with 19 % tax and 3.5 hours",
    "open references/deep/er/notes-for-the-next-quarter.md",
    "see release-2026-11-final-version-3-for-customers",
    "請求書を書く",
]


@pytest.mark.parametrize(("text", "secret"), REMOVED)
def test_secrets_and_personal_data_are_removed(text: str, secret: str) -> None:
    assert secret not in redact(text)
    assert redact(text).count("[") >= 1


@pytest.mark.parametrize("text", KEPT)
def test_a_question_stays_readable(text: str) -> None:
    assert redact(text) == text


def test_the_words_around_a_secret_stay() -> None:
    assert redact(f"clone with {GITHUB} now") == "clone with [secret] now"
    assert redact("https://example.com/?token=hunter2&x=1") == "https://example.com/?token=[secret]&x=1"


@given(st.text())
def test_a_redacted_text_is_redacted_completely(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "unit", ["a", "1", "a1", "@", "a@", "token:", "pass=", "-----BEGIN PRIVATE KEY-----", "://", "1 "]
)
def test_the_longest_question_is_redacted_quickly(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    cpu.within(0.5, lambda: redact(text))
