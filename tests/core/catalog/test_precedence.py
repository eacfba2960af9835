"""Laws of precedence: the skill that wins a name, the ones it hides, and the reason."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from registry.core.catalog import precedence
from registry.core.catalog.precedence import BUNDLED, PROJECT, Candidate, Claim, EffectiveSkill
from tests.core.strategies import law

NAMES = ("alpha", "beta", "gamma")


def candidate(name: str = "alpha", source: str = BUNDLED, number: int = 0, root: str = "library") -> Candidate:
    return Candidate(name, source, str(number), f"sha256:{number:064x}", f"Does {name}.", "tool", root=root)


def own(name: str = "alpha", *, enabled: bool = True, withdrawn: bool = False) -> Claim:
    return Claim(name, enabled, overrides=True, candidate=None if withdrawn else candidate(name, PROJECT, 99, ""))


@st.composite
def directories(draw: st.DrawFn) -> dict[str, tuple[Candidate, ...]]:
    """Generate built-in skills by name, in the order of their roots."""
    found = {}
    for name in NAMES:
        count = draw(st.integers(0, 3))
        if count:
            found[name] = tuple(candidate(name, BUNDLED, n, f"root-{n}") for n in range(count))
    return found


@st.composite
def claims(draw: st.DrawFn) -> dict[str, Claim]:
    """Generate claims: switched off, its own skill, or its own skill with all versions yanked."""
    said = {}
    for name in draw(st.lists(st.sampled_from((*NAMES, "delta")), unique=True)):
        overrides, withdrawn, enabled = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
        said[name] = own(name, enabled=enabled, withdrawn=withdrawn) if overrides else Claim(name, enabled, False)
    return said


def seen(skill: EffectiveSkill) -> list[Candidate]:
    return [*([skill.winner] if skill.winner else []), *(hidden.candidate for hidden in skill.hides)]


@law
@given(directories(), claims())
def test_the_projects_own_skill_wins_over_every_directory(
    bundled: dict[str, tuple[Candidate, ...]], said: dict[str, Claim]
) -> None:
    for skill in precedence.resolve_all(bundled, said):
        claim = said.get(skill.name)
        if claim and claim.overrides:
            assert skill.winner == claim.candidate
            assert [hidden.candidate for hidden in skill.hides] == list(bundled.get(skill.name, ()))


@law
@given(directories(), claims())
def test_among_directories_the_first_one_wins(
    bundled: dict[str, tuple[Candidate, ...]], said: dict[str, Claim]
) -> None:
    for skill in precedence.resolve_all(bundled, said):
        claim = said.get(skill.name)
        if not (claim and claim.overrides):
            assert skill.winner == bundled[skill.name][0]
            assert [hidden.candidate for hidden in skill.hides] == list(bundled[skill.name][1:])


@law
@given(directories(), claims())
def test_a_name_that_is_switched_off_is_never_served(
    bundled: dict[str, tuple[Candidate, ...]], said: dict[str, Claim]
) -> None:
    off = {name for name, claim in said.items() if not claim.enabled}
    assert not off & {skill.name for skill in precedence.resolve_all(bundled, said) if skill.served}


@law
@given(directories(), claims())
def test_a_name_with_an_available_version_that_is_on_is_served(
    bundled: dict[str, tuple[Candidate, ...]], said: dict[str, Claim]
) -> None:
    served = {skill.name for skill in precedence.resolve_all(bundled, said) if skill.served}
    expected = set()
    for name in bundled.keys() | said.keys():
        claim = said.get(name)
        stands = claim.candidate is not None if claim and claim.overrides else name in bundled
        if stands and (claim is None or claim.enabled):
            expected.add(name)
    assert served == expected


@law
@given(directories(), claims())
def test_every_candidate_is_winner_or_hidden_exactly_once(
    bundled: dict[str, tuple[Candidate, ...]], said: dict[str, Claim]
) -> None:
    skills = precedence.resolve_all(bundled, said)
    everywhere = [found for many in bundled.values() for found in many]
    everywhere += [claim.candidate for claim in said.values() if claim.candidate]
    assert sorted(map(repr, everywhere)) == sorted(repr(one) for skill in skills for one in seen(skill))


@law
@given(directories(), claims())
def test_resolving_one_name_equals_resolving_all_names(
    bundled: dict[str, tuple[Candidate, ...]], said: dict[str, Claim]
) -> None:
    every = {skill.name: skill for skill in precedence.resolve_all(bundled, said)}
    for name in (*NAMES, "delta", "unknown"):
        assert precedence.resolve(name, bundled.get(name, ()), said.get(name)) == every.get(name)


@law
@given(directories(), claims())
def test_skills_are_sorted_by_name_without_duplicates(
    bundled: dict[str, tuple[Candidate, ...]], said: dict[str, Claim]
) -> None:
    names = [skill.name for skill in precedence.resolve_all(bundled, said)]
    assert names == sorted(set(names))


@law
@given(directories(), claims())
def test_deleting_the_override_reveals_the_bundled_skill(
    bundled: dict[str, tuple[Candidate, ...]], said: dict[str, Claim]
) -> None:
    for name, claim in said.items():
        deleted = precedence.resolve(name, bundled.get(name, ()), replace(claim, overrides=False, candidate=None))
        if name in bundled:
            assert deleted is not None
            assert (deleted.winner, deleted.enabled) == (bundled[name][0], claim.enabled)
        else:
            assert deleted is None


@law
@given(directories(), claims())
def test_would_hide_predicts_what_a_new_skill_hides(
    bundled: dict[str, tuple[Candidate, ...]], said: dict[str, Claim]
) -> None:
    for name in NAMES:
        before = precedence.resolve(name, bundled.get(name, ()), said.get(name))
        after = precedence.resolve(name, bundled.get(name, ()), own(name))
        assert after is not None
        assert precedence.would_hide(before) == after.hides


def test_an_unknown_name_resolves_to_nothing() -> None:
    assert precedence.resolve("alpha", (), None) is None


def test_switching_an_unknown_name_off_creates_no_skill() -> None:
    assert precedence.resolve("alpha", (), Claim("alpha", enabled=False, overrides=False)) is None


def test_a_withdrawn_skill_hides_the_built_in_one_with_a_reason() -> None:
    skill = precedence.resolve("alpha", (candidate(),), own(withdrawn=True))
    assert skill is not None
    assert not skill.served
    assert "all its versions were withdrawn" in skill.hides[0].reason


def test_the_reason_names_the_directory_that_was_first() -> None:
    skill = precedence.resolve("alpha", (candidate(root="team"), candidate(number=1)), None)
    assert skill is not None
    assert skill.hides[0].reason == "The skill in “team” was found first."


def test_a_built_in_skill_that_hides_another_is_not_customised() -> None:
    """Only a project's own skill gets the badge “Customised”."""
    skill = precedence.resolve("alpha", (candidate(), candidate(number=1)), None)
    assert skill is not None
    assert not skill.customised


def test_only_names_without_an_available_version_are_reported_as_withdrawn() -> None:
    skills = precedence.resolve_all(
        {"beta": (candidate("beta"),)}, {"alpha": own(withdrawn=True), "gamma": own("gamma")}
    )
    reported = precedence.withdrawn(skills)
    assert [(one.name, one.code) for one in reported] == [("alpha", "every-version-yanked")]
    assert "delete the skill" in reported[0].message


def test_the_digest_is_that_of_the_winner() -> None:
    assert precedence.digest_of(precedence.resolve("alpha", (candidate(number=3),), None)) == f"sha256:{3:064x}"


def test_the_digest_is_empty_without_a_winner() -> None:
    assert precedence.digest_of(precedence.resolve("alpha", (candidate(),), own(withdrawn=True))) == ""
    assert precedence.digest_of(None) == ""
