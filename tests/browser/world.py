"""The demo project in every state that a page can show: drafts, conflicts, built-in changes, waiting proposals."""

import io
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

from django.core.management import call_command
from django.test import override_settings
from django.utils import timezone

from registry.core import roles
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.format import skill_md
from registry.core.format.skill_form import Fields
from registry.core.notifications import events
from registry.core.proposals.lifecycle import State
from registry.core.text import edits
from registry.models import EmailConfirmation, Project, Proposal, User
from registry.models.notifications import WAITING
from registry.services import permissions
from registry.services.catalog import built_in, catalog
from registry.services.drafts import draft_files, drafts, uploads
from registry.services.drafts.drafts import FORM, Place, Typed
from registry.services.notifications import email, email_preferences, webhooks
from registry.services.people import accounts, invitations, members, projects
from registry.services.permissions import Actor
from registry.services.proposals import proposals
from registry.services.proposals.prepare import Suggestion
from registry.services.skills import customisation, skills, versions
from tests.browser import alarms, other_site, questions, registered, run_questions, run_states
from tests.browser.other_site import Places
from tests.browser.questions import Asked
from tests.browser.run_states import Runs
from tests.browser.site import Site, Team
from tests.faults.sites import wait_for

_SIZES = """\
size,inside (cm),most (kg),price (EUR)
S,25 × 17 × 10,2,4.90
M,37 × 30 × 13,5,6.90
L,45 × 35 × 20,10,9.90
XL,60 × 45 × 30,25,16.90
"""

_PARCELS = """\
# Choose a parcel

1. Measure the longest side of what goes in and add 4 cm for the padding.
2. Look the size up in [the table of sizes](assets/sizes.csv). Take the smallest one that fits.
3. Weigh it packed. Above the limit of the size, take the next one.
4. Glass and screens always go into `L` or larger, whatever their size.

![How the flaps are folded](assets/flaps.png)

<!-- Prices as of the spring list. -->
"""

_WORKFLOW = """\
id: shipping.parcel
version: 1.0.0
description: Chooses a parcel and has a person check dear ones.
inputs:
  order: {type: object, required: true, description: The order with its items.}
  rush: {type: boolean, default: false}
outputs:
  size: {type: string, description: The size to pack.}
steps:
  - id: read-order
    uses: data.echo
    input: {value: inputs.order}
  - id: measure
    uses: data.echo
    input: {value: item}
    config: {foreach: {items: inputs.order.items}}
  - id: weigh
    uses: data.echo
    input: {value: inputs.order}
    config: {depends_on: [read-order]}
  - id: choose-size
    uses: text.template
    input: {template: L}
    config: {depends_on: [measure, weigh]}
  - id: check-price
    uses: data.echo
    input: {value: inputs.rush}
    config: {condition: inputs.rush == true, approvers: {roles: [reviewer]}}
"""

_CALLS = """\
# Note down a call

Write the note while you still hear the voice, in five lines at most.

1. Who called, and from where.
2. What they want, in their own words.
3. What you promised, with the day.
"""


_HANDOVER = """\
# Hand over a shift

1. Read out the cases that are open, oldest first.
2. Say what was promised to whom, and write it on the board.
3. Name what is broken and who was told.

Whoever takes over says back what they heard. Only then does the shift end.
"""


@dataclass(frozen=True)
class World:
    """A demo team with the ids and secrets that the addresses of its pages contain."""

    team: Team
    sign_in_link: str
    mail_link: str
    invitation: str
    upload: str
    waiting: int
    own: int
    clashing: int
    webhook: int
    places: Places
    scan: str
    asked: Asked
    runs: Runs
    run_questions: dict[str, tuple[int, int]]  # the run and the question of each kind


def build(site: Site) -> World:
    site.do(call_command, "load_demo", stdout=io.StringIO())
    team = Team(site, site.do(Project.objects.get, slug="demo"))
    team.adopt(site.do(lambda: {user.username: user for user in User.objects.filter(username__in=roles.ROLES)}))
    world = site.do(_fill, team, site.library, team.actor(roles.OWNER), team.actor(roles.AUTHOR))
    wait_for(lambda: "torn-page" in site.look(f"{team.base}/skills/", team.session(roles.OWNER)))
    return world


def _fill(team: Team, library: Path, owner: Actor, author: Actor) -> World:
    project, operator = team.project, permissions.operator()
    _files_of_all_kinds(project, author)
    _change_built_in(project, library, author)
    clashing = _make_outdated(project, owner, author)
    _start_draft(project, owner)
    (library / "torn-page").mkdir()
    (library / "torn-page" / SKILL_MD).write_text("---\nname: torn-page\ndescription: one\ndescription: two\n---\n")
    built_in.index().refresh()
    old = projects.create(slug="old-shop", name="The old shop", by=operator)
    members.set_role(old, User.objects.get(pk=owner.user_id), roles.OWNER, by=operator)
    projects.archive(old, by=operator)
    sent = uploads.receive(project, "parcel-sizes.zip", _newer_parcels(project), now=timezone.now(), by=owner)
    secret = accounts.make_sign_in_link(User.objects.get(pk=author.user_id), by=operator)
    invited = invitations.make(project, roles.AUTHOR, note="Noor", by=owner)
    waiting = Proposal.objects.filter(project=project, state=State.OPEN).order_by("pk")[0].pk
    with override_settings(SKILLS_FETCH_ALLOW_HOSTS=["hooks.example.com"]):  # no name is looked up for it
        hook, _ = webhooks.create(project, "https://hooks.example.com/skills", [events.OPENED], by=owner)
    registered.fill(project, owner)
    places = other_site.fill(project, owner)
    mail_link = _new_address(User.objects.get(pk=owner.user_id))
    asking = run_questions.fill(project, owner, author)  # before a run that stays in the queue
    return World(
        team, secret, mail_link, invited, sent.key, waiting, _propose(project, owner), clashing, hook.pk, places,
        alarms.fill(project, owner, author), questions.fill(project, owner, author), run_states.build(team.people),
        asking,
    )  # fmt: skip


def _new_address(user: User) -> str:
    email_preferences.choose(user, address="maja@example.org", wanted=WAITING)
    return email.confirmation_secret(EmailConfirmation.objects.get(user=user))


def _files_of_all_kinds(project: Project, author: Actor) -> None:
    """Create a skill with a table, an image, a script and a withdrawn version."""
    text = skill_md.compose(
        name="parcel-sizes",
        description="Choose the parcel for an order: sizes, weights, what needs room. Use when somebody packs.",
        instructions=_PARCELS,
        tags=["shipping"],
    )
    files = {
        SKILL_MD: text.encode(),
        "assets/flaps.png": picture(),
        "assets/sizes.csv": _SIZES.encode(),
        "workflow.yaml": _WORKFLOW.encode(),
        "scripts/fits.py": b'"""Says whether a thing fits into a size."""\n\nSIZES = {"S": (25, 17, 10)}\n',
    }
    first = skills.create(project, Bundle(files), note="First version", by=author).version
    slip = {**files, SKILL_MD: text.replace("4 cm", "40 cm").encode()}
    second = skills.save(
        project, "parcel-sizes", Bundle(slip), base=first.digest, note="More padding", by=author
    ).version
    third = {**files, SKILL_MD: text.replace("`L` or larger", "`L` or larger, with the sticker").encode()}
    skills.save(project, "parcel-sizes", Bundle(third), base=second.digest, note="Sticker for glass", by=author)
    versions.yank(project, "parcel-sizes", "2", reason="40 cm of padding was a slip of the pen", by=author)


def _newer_parcels(project: Project) -> Bundle:
    standing = catalog.load(project.pk, "parcel-sizes").bundle()
    glass = b"# Glass\n\nWrap each piece by itself, and write the number of pieces on the lid.\n"
    dearer = _SIZES.replace("4.90", "5.20").encode()
    return standing.with_changes({"assets/sizes.csv": dearer, "references/glass.md": glass})


def _change_built_in(project: Project, library: Path, author: Actor) -> None:
    """Change the same line of a built-in skill on both sides, and one more line in the built-in skill."""
    customisation.customise(project, "expense-report", by=author)
    mine = catalog.load(project.pk, "expense-report")
    ours = mine.bundle().with_changes({SKILL_MD: _edited(mine.bundle()[SKILL_MD], "oldest first", "newest first")})
    skills.save(project, "expense-report", ours, base=mine.candidate.digest, note="Newest receipts on top", by=author)
    path = library / "expense-report" / SKILL_MD
    theirs = _edited(path.read_bytes(), "oldest first", "sorted by category, oldest first")
    theirs = _edited(theirs, "in one sentence", "in one short sentence")
    path.write_bytes(_edited(theirs, "1.3.0", "1.4.0"))


def _make_outdated(project: Project, owner: Actor, author: Actor) -> int:
    """Make a draft and a proposal outdated by publishing another version. Return the id of the proposal."""
    text = skill_md.compose(
        name="shift-handover",
        description="Hand a shift over in five minutes: open cases, promises, what is broken. Use when a shift ends.",
        instructions=_HANDOVER,
        tags=["customers"],
    )
    files = Bundle({SKILL_MD: text.encode(), "references/phone-list.md": b"# Phone list\n\nShift lead: 204\n"})
    first = skills.create(project, files, note="First version", by=author).version
    place = Place(project, "shift-handover")
    drafts.save(place, Typed(drafts.RAW, text=text.replace("on the board", "in the shared list")), by=owner)
    ledger = edits.parse(skill_md=text.replace("on the board", "into the ledger"))
    why = "The board is wiped every night, and the promises with it."
    made = proposals.propose(project, Suggestion("shift-handover", ledger, why), by=author).proposal
    board = files.with_changes({SKILL_MD: text.replace("on the board", "on the board by the door, in red").encode()})
    skills.save(project, "shift-handover", board, base=first.digest, note="Red is seen from afar", by=author)
    return made.pk


def _propose(project: Project, owner: Actor) -> int:
    """Create a proposal of the owner with two revisions. Return its id."""

    def suggestion(row: str) -> Suggestion:
        edit = edits.parse(files={"assets/sizes.csv": _SIZES.replace("XL,60 × 45 × 30,25,16.90", row)})
        return Suggestion("parcel-sizes", edit, "The carrier has a larger XL since May, and it costs more.")

    made = proposals.propose(project, suggestion("XL,60 × 45 × 35,25,16.90"), by=owner).proposal
    proposals.revise(project, made.pk, suggestion("XL,60 × 45 × 35,25,17.90"), by=owner)
    return made.pk


def _start_draft(project: Project, owner: Actor) -> None:
    """Create a draft of a new skill with a file."""
    fields = Fields(
        name="call-notes",
        description="Note down a call so that others can go on with it. Use when somebody has talked to a customer.",
        tags="customers, phone",
        instructions=_CALLS,
    )
    place = Place(project)
    drafts.save(place, Typed(FORM, fields), by=owner)
    draft_files.add(
        place, {"references/example.md": b"# A good note\n\nMs. Abe, Kobe. Wants the blue one.\n"}, by=owner
    )


def _edited(content: bytes, before: str, after: str) -> bytes:
    assert before in content.decode(), before
    return content.decode().replace(before, after).encode()


def picture() -> bytes:
    """Return a small striped PNG image."""
    width, height = 240, 120
    rows = b"".join(
        b"\0" + b"".join(b"\x1f\x6f\x5c" if (x + y) // 24 % 2 else b"\xe8\xf0\xec" for x in range(width))
        for y in range(height)
    )
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    ]
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
