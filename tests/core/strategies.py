"""Hypothesis strategies for paths and bundles."""

import unicodedata

from hypothesis import settings
from hypothesis import strategies as st

from registry.core import paths
from registry.core.archive.zip_bundle import is_junk
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import UnsafePath
from tests import effort

law = settings(max_examples=effort.examples(25))


def accepted(path: str) -> bool:
    try:
        paths.check(path)
    except UnsafePath:
        return False
    return True


def distinct(names: list[str]) -> bool:
    try:
        paths.check_collisions([SKILL_MD, *names])
    except UnsafePath:
        return False
    return True


_letters = st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp"))
_segments = st.one_of(
    st.sampled_from(["SKILL.md", "a", "B", "docs", "scripts", "_x", ".hidden", "a b", "é", "日本", "run.sh"]),
    st.text(_letters, min_size=1, max_size=6).map(lambda text: unicodedata.normalize("NFC", text)),
)
safe_paths = st.lists(_segments, min_size=1, max_size=3).map("/".join).filter(lambda p: accepted(p) and not is_junk(p))
file_contents = st.binary(max_size=200) | st.sampled_from([b"", b"\n", b"PK\x05\x06", b"PK\x03\x04"])


@st.composite
def bundles(draw: st.DrawFn) -> Bundle:
    names = draw(st.lists(safe_paths, max_size=5, unique=True).filter(distinct))
    return Bundle({SKILL_MD: draw(file_contents), **{name: draw(file_contents) for name in names}})
