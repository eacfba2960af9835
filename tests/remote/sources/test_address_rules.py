"""Validation of source addresses."""

import pytest

from registry.core.errors import InvalidRequest
from registry.remote import sources
from registry.remote.sources import CLAWHUB, GIT, KINDS, URL, WELL_KNOWN, RemoteSource

NO_HOSTS: frozenset[str] = frozenset()
HOST = "https://1.1.1.1"


def refusal(source: RemoteSource) -> str:
    with pytest.raises(InvalidRequest) as refused:
        sources.check(source, allowed=NO_HOSTS)
    assert refused.value.message.endswith("Nothing was saved.")
    return refused.value.message


@pytest.mark.parametrize("kind", KINDS)
def test_a_good_address_is_kept_as_it_will_be_used(kind: str) -> None:
    assert sources.check(RemoteSource(kind, f" {HOST}/a/b#c "), allowed=NO_HOSTS) == RemoteSource(kind, f"{HOST}/a/b")


def test_a_file_may_have_a_plain_query() -> None:
    assert sources.check(RemoteSource(URL, f"{HOST}/a.zip?raw=1"), allowed=NO_HOSTS).address == f"{HOST}/a.zip?raw=1"


@pytest.mark.parametrize(
    "query",
    [
        "X-Amz-Signature=abc", "x-amz-credential=abc", "X-Goog-Signature=a", "Signature=a", "sig=a", "token=a",
        "TOKEN=", "access_token=a", "key=a", "api_key=a", "apikey=a", "AWSAccessKeyId=a", "Expires=1", "Key-Pair-Id=a",
        "auth=a", "a=b&GoogleAccessId=x", "private_token=a", "password=a", "client_secret=a",
    ],
)  # fmt: skip
def test_a_signed_address_is_refused(query: str) -> None:
    said = refusal(RemoteSource(URL, f"{HOST}/a.zip?{query}"))
    assert said.startswith("This address is signed and will stop working. Upload the file instead.")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", ["/t/sks_0123456789abcdef", "/sub/t/sks_0123456789abcdef/.well-known/x/index.json"])
def test_an_address_with_one_of_our_tokens_is_refused(kind: str, path: str) -> None:
    assert "contains a token" in refusal(RemoteSource(kind, HOST + path))


def test_any_address_of_a_token_is_refused_as_an_index() -> None:
    assert "contains a token" in refusal(RemoteSource(WELL_KNOWN, f"{HOST}/t/whatever/"))
    assert "contains a token" in refusal(
        RemoteSource(WELL_KNOWN, f"{HOST}/t/whatever/.well-known/agent-skills/index.json")
    )


@pytest.mark.parametrize("kind", KINDS)
def test_an_address_with_a_password_or_in_a_private_network_is_refused(kind: str) -> None:
    assert "password" in refusal(RemoteSource(kind, "https://me:secret@1.1.1.1/"))
    assert "private network" in refusal(RemoteSource(kind, "https://127.0.0.1/"))
    assert "Use https" in refusal(RemoteSource(kind, "http://1.1.1.1/"))
    assert "Enter the whole address" in refusal(RemoteSource(kind, "1.1.1.1/a"))


@pytest.mark.parametrize("scheme", ["ssh", "git", "file", "ext", "http"])
def test_git_is_spoken_over_https_only(scheme: str) -> None:
    assert "Use https" in refusal(RemoteSource(GIT, f"{scheme}://1.1.1.1/x.git"))


@pytest.mark.parametrize("kind", [WELL_KNOWN, CLAWHUB, GIT])
def test_only_a_file_has_a_query(kind: str) -> None:
    assert "question mark" in refusal(RemoteSource(kind, f"{HOST}/a?b=c"))


def test_an_unknown_kind_of_source_is_refused() -> None:
    assert "'ftp'" in refusal(RemoteSource("ftp", HOST))


@pytest.mark.parametrize("kind", [URL, WELL_KNOWN, CLAWHUB])
def test_only_git_has_a_ref(kind: str) -> None:
    assert "Only a git source" in refusal(RemoteSource(kind, HOST, ref="main"))


@pytest.mark.parametrize("ref", ["main", "v1.0", "feature/größe", "a" * 40, "refs/heads/x", "a-b", ""])
def test_a_ref_that_git_allows_is_allowed(ref: str) -> None:
    assert sources.check(RemoteSource(GIT, f"{HOST}/x.git", ref), allowed=NO_HOSTS).ref == ref


@pytest.mark.parametrize(
    "ref",
    [
        "-x", "--upload-pack=touch /tmp/x", "a b", "a:b", "+main", "a..b", "main^", "main~1", "refs/*", "a\\b", "@{u}",
        "@", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.", "a\nb", "a\x00b", "a\u202eb", "x" * 201, "[a]", "a?",
    ],
)  # fmt: skip
def test_an_invalid_ref_is_refused(ref: str) -> None:
    assert "branch, tag or commit" in refusal(RemoteSource(GIT, f"{HOST}/x.git", ref))


def test_an_address_is_shown_up_to_the_question_mark() -> None:
    assert sources.shown(f"{HOST}/a.zip?x=y&z") == f"{HOST}/a.zip"
