"""Random sequences of actions: agents only ever get what a person with permission published or approved."""

from itertools import count

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from registry.core import roles
from registry.core.errors import SkillsiteError
from registry.core.proposals.lifecycle import State
from registry.core.text import edits
from registry.core.text.edits import Edit
from registry.core.text.merge_bundles import MINE, THEIRS
from registry.models import Proposal, Version
from registry.services import permissions
from registry.services.audit_log import verification
from registry.services.catalog import catalog
from registry.services.people import accounts, members, projects
from registry.services.permissions import Actor
from registry.services.proposals import approval_records, proposals, rebasing, reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.proposals.rebasing import Choices
from registry.services.skills import skills, stale_proposals, versions
from tests import effort
from tests.conftest import skill_bundle, skill_text
from tests.prepared import create_skill, ensure_agent

OPERATOR = permissions.operator()
NUMBERS = count()
WORDS = st.sampled_from(["Ana", "Ben", "Cy", "Dan"])
LINE = st.integers(0, 4)


class Review(RuleBasedStateMachine):
    """`let_through` holds every digest that a person published or approved; the machine keeps it by itself."""

    @initialize()
    def begin(self) -> None:
        number = next(NUMBERS)
        self.project = projects.create(slug=f"law-{number}", name="Law", by=OPERATOR)
        self.let_through: set[str] = set()
        self.protected = False
        self.people = {role: self._person(role, number) for role in (roles.AUTHOR, roles.REVIEWER, roles.OWNER)}
        self.bot = permissions.agent(ensure_agent(self.project, "bot", by=OPERATOR), frozenset({roles.PROPOSE}))
        self.lines = ["One", "Two", "Three", "Four", "Five"]
        self._publish("One")

    def _person(self, role: str, number: int) -> Actor:
        user = accounts.create_user(f"{role}-{number}", by=OPERATOR)
        members.set_role(self.project, user, role, by=OPERATOR)
        return permissions.person(user, self.project)

    def _publish(self, word: str) -> None:
        bundle = skill_bundle(body=self._body(0, word))
        self.let_through.add(create_skill(self.project, bundle, by=self.people[roles.AUTHOR]).version.digest)

    def _body(self, line: int, word: str) -> str:
        return "\n\n".join(word if at == line else text for at, text in enumerate(self.lines))

    def _edit(self, line: int, word: str) -> Edit:
        return edits.parse(skill_md=skill_text(body=self._body(line, word)))

    def _served(self) -> str | None:
        try:
            return catalog.load(self.project.pk, "greeting").candidate.digest
        except SkillsiteError:
            return None

    def _any(self, place: int) -> Proposal:
        found = list(Proposal.objects.filter(project=self.project).order_by("pk"))
        return found[place % len(found)] if found else Proposal(pk=0)

    def _try(self, verb: object, *given: object, **more: object) -> object:
        """Return the result of an action, or None if it is refused. Any other exception fails the test."""
        try:
            return verb(self.project, *given, **more)  # type: ignore[operator]
        except SkillsiteError:
            return None

    @rule(line=LINE, word=WORDS, who=st.sampled_from(["bot", roles.AUTHOR, roles.REVIEWER]))
    def suggest(self, line: int, word: str, who: str) -> None:
        by = self.bot if who == "bot" else self.people[who]
        self._try(proposals.propose, Suggestion("greeting", self._edit(line, word), "Why not."), by=by)

    @rule()
    def suggest_to_delete(self) -> None:
        self._try(proposals.propose, Suggestion("greeting", None, "Old.", kind="delete"), by=self.bot)

    @rule(line=LINE, word=WORDS)
    def save(self, line: int, word: str) -> None:
        bundle = skill_bundle(body=self._body(line, word))
        saved = self._try(skills.save, "greeting", bundle, base=self._served(), by=self.people[roles.AUTHOR])
        if saved is not None:
            assert not self.protected
            self.let_through.add(bundle.digest)

    @rule(version=st.integers(1, 6))
    def restore(self, version: int) -> None:
        self._try(versions.restore, "greeting", str(version), by=self.people[roles.AUTHOR])

    @rule(version=st.integers(1, 6))
    def yank(self, version: int) -> None:
        self._try(versions.yank, "greeting", str(version), reason="Wrong.", by=self.people[roles.AUTHOR])

    @rule()
    def delete(self) -> None:
        self._try(skills.delete, "greeting", by=self.people[roles.AUTHOR])

    @rule(place=st.integers(0, 9), who=st.sampled_from([roles.AUTHOR, roles.REVIEWER, roles.OWNER]))
    def approve(self, place: int, who: str) -> None:
        proposal, by = self._any(place), self.people[who]
        shown_open = proposal.state == State.OPEN and proposal.pk
        own = proposal.pk and proposal.backers.filter(user=by.user_id).exists()
        decided = self._try(reviews.approve, proposal.pk or 0, result_digest=proposal.result_digest, by=by)
        assert (decided is not None) == bool(shown_open and not own and who != roles.AUTHOR)
        if decided is not None:
            self.let_through.add(proposal.result_digest)

    @rule(place=st.integers(0, 9), line=LINE, word=WORDS)
    def edit_and_approve(self, place: int, line: int, word: str) -> None:
        proposal = self._any(place)
        decided = self._try(
            reviews.approve, proposal.pk or 0, result_digest=proposal.result_digest, edit=self._edit(line, word),
            by=self.people[roles.OWNER],
        )  # fmt: skip
        if isinstance(decided, Proposal):
            self.let_through.add(decided.result_digest)

    @rule(place=st.integers(0, 9))
    def reject(self, place: int) -> None:
        self._try(reviews.reject, self._any(place).pk or 0, comment="No.", by=self.people[roles.REVIEWER])

    @rule(place=st.integers(0, 9))
    def send_back(self, place: int) -> None:
        self._try(reviews.request_changes, self._any(place).pk or 0, comment="No.", by=self.people[roles.REVIEWER])

    @rule(place=st.integers(0, 9), line=LINE, word=WORDS)
    def revise(self, place: int, line: int, word: str) -> None:
        new = Suggestion("greeting", self._edit(line, word), "Again.")
        self._try(proposals.revise, self._any(place).pk or 0, new, by=self.bot)

    @rule(place=st.integers(0, 9), take=st.sampled_from(["", THEIRS, MINE]), who=st.sampled_from(["bot", "reviewer"]))
    def bring_over(self, place: int, take: str, who: str) -> None:
        proposal, by = self._any(place), self.bot if who == "bot" else self.people[roles.REVIEWER]
        offered = rebasing.preview(self.project, proposal, by=by) if proposal.pk else None
        choices = None
        if take and offered is not None and offered.conflict is not None:
            taken = dict.fromkeys(offered.conflict.joined.keys, take)
            choices = Choices(proposal.revision, offered.conflict.current.digest, taken)
        self._try(rebasing.rebase, proposal.pk or 0, choices=choices, by=by)

    @rule(on=st.booleans())
    def protect(self, on: bool) -> None:
        projects.set_protected(self.project, on, by=self.people[roles.OWNER])
        self.protected = on

    @rule(place=st.integers(0, 9))
    def withdraw(self, place: int) -> None:
        self._try(proposals.withdraw, self._any(place).pk or 0, by=self.bot)

    @invariant()
    def what_is_served_was_let_through(self) -> None:
        served = self._served()
        assert served is None or served in self.let_through
        stored = Version.objects.filter(skill__project=self.project).values_list("digest", flat=True)
        assert set(stored) <= self.let_through

    @invariant()
    def what_is_open_fits_what_stands(self) -> None:
        standing = catalog.find(self.project.pk, "greeting")
        for proposal in Proposal.objects.filter(project=self.project, state=State.OPEN):
            assert stale_proposals.current_base(proposal.kind, standing) == proposal.base_digest

    def teardown(self) -> None:
        if hasattr(self, "project"):
            assert verification.verify(self.project)[1] == []
            doubts = [doubt for doubt in approval_records.verify()[1] if doubt.project == self.project.slug]
            assert [doubt for doubt in doubts if not doubt.missing] == []


@pytest.mark.slow
@pytest.mark.django_db
def test_agents_get_only_what_a_permitted_person_approved(library: object) -> None:
    run_state_machine_as_test(
        Review,
        settings=settings(
            max_examples=effort.examples(5),
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
