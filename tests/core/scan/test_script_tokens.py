"""Brackets are matched in one pass as they are one by one."""

from hypothesis import given
from hypothesis import strategies as st

from registry.core.scan.script_tokens import Kind, Token, brackets, closing


@given(st.lists(st.sampled_from("([{)]}a,"), max_size=60))
def test_one_pass_finds_the_bracket_that_closes_each_other(signs: list[str]) -> None:
    tokens = [Token(Kind.NAME if sign == "a" else Kind.SIGN, sign, 1) for sign in signs]
    ends = brackets(tokens)
    for at, sign in enumerate(signs):
        if sign in "([{":
            assert ends.get(at, len(tokens)) == closing(tokens, at)
