"""Redaction of texts that are kept."""

from ipaddress import IPv6Address

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
    ("write to anna＠example．org please", "anna"),
    ("write to ａｎｎａ＠ｅｘａｍｐｌｅ．ｏｒｇ please", "ａｎｎａ"),
    ("write to anna﹫example。org please", "anna"),
    ("für ju\u0308rgen@example.org", "ju"),
    ("mail an\u200bna@exam\u00adple.org", "an\u200bna"),
    ("ｐａｓｓｗｏｒｄ＝ｈｕｎｔｅｒ２", "ｈｕｎｔｅｒ２"),
    ("ping 10.0.0.1", "10.0.0.1"),
    ("ping 10.0.0.1.", "10.0.0.1"),
    ("see...10.0.0.1:8080/x", "10.0.0.1"),
    ("the server 8.8.8.8 is down", "8.8.8.8"),
    ("open http://10.1.2.3/admin", "10.1.2.3"),
    ("subnet 10.0.0.0/8", "10.0.0.0"),
    ("ping １０．０．０．１", "０．１"),
    ("route fe80::1%eth0", "fe80::1"),
    ("open [2001:db8::7]:443", "2001:db8::7"),
    ("from 2001:0db8:0000:0000:0000:ff00:0042:8329.", "8329"),
    ("from 1:2:3:4:5:6:7:8", "7:8"),
    ("prefix 2001:db8::/32", "2001:db8"),
    ("mapped ::ffff:10.0.0.1", "ffff"),
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
    "ｆｕｌｌ ｗｉｄｔｈ ａｎｄ ① ﬁne",
    "upgrade from v1.2.3.4",
    "upgrade to version 1.2.3.4 or Version: 10.0.0.1",
    "the version is 4.0.0.1",
    "section 1.2.3.4.5",
    "chapter 300.1.2.3",
    "release 1.2.3",
    "meet at 12:30 or at 12:30:45",
    "from 10:00::11:00",
    "why does std::vector need ::new, Abc::Def and a::b",
    "what does :: mean, or a[::2], or localhost ::1",
    "the ratio 1:2:3",
    "price: 3.50, 4.50",
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


_PIECES = (
    "1",
    "25",
    "255",
    "300",
    "2001",
    "db8",
    "fe80",
    ".",
    ":",
    "::",
    "@",
    "＠",
    "．",
    "a",
    "v",
    "version ",
    " ",
    "[",
    "-",
)


@given(st.one_of(st.text(), st.lists(st.sampled_from(_PIECES), max_size=30).map("".join)))
def test_a_redacted_text_is_redacted_completely(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(st.ip_addresses(v=4).map(str), st.sampled_from(("", "(", "host ", "=", "://", "server ", "over ")))
def test_each_address_of_four_bytes_is_removed(address: str, before: str) -> None:
    assert redact(f"{before}{address} please") == f"{before}[ip] please"
    wide = address.translate({**{ord(str(digit)): 0xFF10 + digit for digit in range(10)}, ord("."): "．"})
    assert redact(f"{before}{wide} please") == f"{before}[ip] please"


@given(st.ip_addresses(v=6, network="2000::/3"), st.booleans())
def test_each_global_address_of_sixteen_bytes_is_removed(address: IPv6Address, whole: bool) -> None:
    written = address.exploded.upper() if whole else str(address)
    assert redact(f"from {written}, please") == "from [ip], please"


@given(st.text(alphabet="ａｂｃ１２①ﬁ é漢字.,?! ", max_size=60))
def test_the_rest_of_a_text_stays_as_it_is(text: str) -> None:
    assert redact(f"{text} anna＠example.org") == f"{text} [email]"


_UNITS = ["a", "1", "a1", "@", "a@", "token:", "pass=", "-----BEGIN PRIVATE KEY-----", "://", "1 "]
_UNITS += ["1.", "1.1.1.1 ", "v1.1.1.1 ", "::", "a:", "1:", "f::1 ", "＠", "ａ", "。a@a", "\u200b"]


@pytest.mark.parametrize("unit", _UNITS)
def test_the_longest_question_is_redacted_quickly(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    cpu.within(0.5, lambda: redact(text))
