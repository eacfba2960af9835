"""Views of the workflow editor: the text of `workflow.yaml`, its steps as cards, and its graph while it is typed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from registry.core.bundle import normalise
from registry.core.errors import InvalidInput, NotFound, SkillsiteError, TooLarge
from registry.core.format.skill_form import restore_line_endings
from registry.core.workflows import documents, step_cards, step_edits, workflow_yaml
from registry.core.workflows.plan import FILE
from registry.core.workflows.step_edits import Steps
from registry.models import Draft
from registry.services.capabilities import capability_registry
from registry.services.drafts import draft_files, drafts
from registry.services.drafts.drafts import FORM, RAW, Place
from registry.web import request_size
from registry.web.access import ProjectRequest, in_project
from registry.web.editor import workflow_form, workflow_page
from registry.web.editor.editor_page import Addresses
from registry.web.editor.workflow_form import FIELDS, Typed
from registry.web.editor.workflow_page import OpenCard, WorkflowPage
from registry.web.htmx import render, wants_fragment
from registry.web.humanize import counted
from registry.web.middleware import STATUS

_DIGITS = 6
_PAGE, _LIVE = "editor/workflow.html", "editor/_workflow_saved.html"


@in_project
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: ProjectRequest, name: str = "") -> HttpResponse:
    place = Place(request.project, name)
    if request.method == "POST":
        return _act(request, place)
    draft = drafts.find(place, by=request.actor)
    text = _text(draft)
    opened = request.GET.get("open", "")
    return render(request, _PAGE, _context(request, place, draft, text, _Shown(opened=opened)))


@dataclass(frozen=True, slots=True)
class _Shown:
    """Parts of a page beside the text. `opened` is the number of a step, or FIELDS. `words` tell what happened."""

    opened: str = ""
    typed: Typed | None = None
    error: SkillsiteError | None = None
    words: str = ""
    removing: tuple[str, tuple[str, ...]] | None = None
    changed: bool = True  # the card and the text are not what the browser has


def _text(draft: Draft) -> str | None:
    """Return the text of the workflow, None if there is no such file or it cannot be edited here."""
    entry = next((each for each in draft.manifest if each.path == FILE), None)
    return draft_files.text_of(entry) if entry else None


def _context(request: ProjectRequest, place: Place, draft: Draft, text: str | None, shown: _Shown) -> dict[str, Any]:
    context: dict[str, Any] = {
        "place": place, "urls": Addresses(place), "draft": draft, "saved": draft.pk is not None, "file": FILE,
        "state": drafts.state(draft), "error": shown.error, "words": shown.words, "removing": shown.removing,
        "has_file": _has_file(draft), "waits_choices": workflow_page.WAITS,
        "changed": shown.changed, "opened": shown.opened, "editable": text is not None,
        "file_url": Addresses(place).file(FILE),
    }  # fmt: skip
    if text is None:
        return context
    page = WorkflowPage(request.project, text)
    return context | page.context(shown.typed, card=_card(page, shown))


def _card(page: WorkflowPage, shown: _Shown) -> OpenCard | None:
    if shown.opened == FIELDS:
        return page.fields_card(shown.typed)
    return page.step_card(_small(shown.opened), shown.typed)


def _small(text: str) -> int:
    """Return the number of a step, or -1, which no step has."""
    return int(text) if text.isdecimal() and text.isascii() and len(text) < _DIGITS else -1


# -- Changes -------------------------------------------------------------------------------------------------------


def _act(request: ProjectRequest, place: Place) -> HttpResponse:
    """Save the text with the changes of the open card, then run the action of the button."""
    request_size.check(request)
    do, _, argument = request.POST.get("do", "save").partition(":")
    place = replace(place, base=request.POST.get("base", ""), seen=request.POST.get("seen"))
    if do == "overwrite":
        place = replace(place, seen=None)
    if do == "start":
        return _start(request, place)
    stored = _text(drafts.find(place, by=request.actor)) or ""
    sent = restore_line_endings(stored, request.POST.get("text", ""))
    typed, shown, text = Typed(sent), _Shown(opened=_open_of(None)), sent
    try:
        typed = workflow_form.read(request.POST, sent)
        shown = _Shown(opened=_open_of(typed), typed=typed)
        text = typed.text
        if not typed.refused:
            text, shown = _ACTIONS.get(do, _keep)(request, typed, argument, shown)
    except (InvalidInput, TooLarge, NotFound) as error:
        shown = replace(shown, error=error)
    return _save(request, place, text, shown, do)


def _save(request: ProjectRequest, place: Place, text: str, shown: _Shown, do: str) -> HttpResponse:
    try:
        _check_size(text)
        draft = _store(place, text, request)
    except SkillsiteError as error:
        draft = drafts.find(place, by=request.actor)
        shown = replace(shown, error=error)
    else:
        draft = drafts.find(replace(place, seen=None), by=request.actor) if draft.pk is None else draft
        text = _text(draft) or text
    if do in _LEAVES and shown.error is None and not (shown.typed and shown.typed.refused):
        return _leave(request, _LEAVES[do](Addresses(place)))
    return _answer(request, place, draft, text, shown)


def _store(place: Place, text: str, request: ProjectRequest) -> Draft:
    """Save the text. A file that was removed in another window is added again, unless there is nothing to save."""
    draft = drafts.find(place, by=request.actor)
    if _has_file(draft):
        return draft_files.write_text(place, FILE, text, by=request.actor)
    return draft_files.add(place, {FILE: text.encode()}, by=request.actor) if text.strip() else draft


def _has_file(draft: Draft) -> bool:
    return any(each.path == FILE for each in draft.manifest)


def _answer(request: ProjectRequest, place: Place, draft: Draft, text: str, shown: _Shown) -> HttpResponse:
    refused = shown.error is not None or bool(shown.typed and shown.typed.refused)
    if not wants_fragment(request):
        if refused or shown.removing:
            status = STATUS[type(shown.error)] if shown.error else 422 if refused else 200
            return render(request, _PAGE, _context(request, place, draft, text, shown), status=status)
        query = f"?{urlencode({'open': shown.opened})}#card" if shown.opened else ""
        return redirect(f"{Addresses(place).workflow}{query}")
    context = _context(request, place, draft, text, shown)
    sent = request.POST.get("text", "").replace("\r\n", "\n")
    context["text_changed"] = text.replace("\r\n", "\n") != sent
    context["card_changed"] = refused or _is_stale(request, context)
    return render(request, _LIVE, context, status=422 if refused else 200)


def _is_stale(request: ProjectRequest, context: dict[str, Any]) -> bool:
    """Return whether the browser shows another card, or other values in it."""
    card: OpenCard | None = context.get("card")
    if request.POST.get("do", "save") != "save" or card is None or "was" not in request.POST:
        return bool(request.POST.get("was")) or card is not None
    if card.tables:
        fields = [cell for table in card.tables for row in table.rows for cell in row.values()]
    else:
        fields = [each for group in card.groups.values() for each in group]
        if card.waits != request.POST.get("card.waits"):
            return True
    return any(
        each.value.strip() != request.POST.get(f"card.{each.key}", "").replace("\r\n", "\n").strip() for each in fields
    )


def _check_size(text: str) -> None:
    most, size = settings.LIMITS.text_read_bytes, len(text.encode(errors="replace"))
    if size > most:
        raise TooLarge(f"The workflow has {size:,} bytes. {most:,} can be edited here. It was not saved.")


def _leave(request: ProjectRequest, url: str) -> HttpResponse:
    if wants_fragment(request):
        return HttpResponse(headers={"HX-Redirect": url})
    return redirect(url)


def _start(request: ProjectRequest, place: Place) -> HttpResponse:
    """Add a workflow to a skill that has none."""
    draft = drafts.find(place, by=request.actor)
    if not _has_file(draft):
        id_ = normalise(place.name or drafts.typed_fields(draft).name)
        content = step_edits.start_file(id_).encode()
        try:
            draft_files.add(place, {FILE: content}, by=request.actor)
        except SkillsiteError as error:
            context = _context(request, place, draft, None, _Shown(error=error))
            return render(request, _PAGE, context, status=STATUS[type(error)])
    return _leave(request, Addresses(place).workflow)


# -- Actions on steps ----------------------------------------------------------------------------------------------


def _open_of(typed: Typed | None) -> str:
    if typed is None or typed.opened is None:
        return ""
    return FIELDS if typed.opened.number is None else str(typed.opened.number)


_Result = tuple[str, _Shown]


def _keep(request: ProjectRequest, typed: Typed, argument: str, shown: _Shown) -> _Result:
    return typed.text, shown


def _step(typed: Typed, argument: str) -> tuple[Steps, int]:
    """Return the steps, and the number of the one that a button names."""
    steps = _steps(typed)
    number, _, id_ = argument.partition(":")
    return steps, workflow_form.locate(steps.document, _small(number), id_)


def _steps(typed: Typed) -> Steps:
    document = documents.load(typed.text, file=FILE, limits=settings.LIMITS)
    return Steps(typed.text, settings.LIMITS, document)


def _open(request: ProjectRequest, typed: Typed, argument: str, shown: _Shown) -> _Result:
    opened = argument if argument in ("", FIELDS) else str(_step(typed, argument)[1])
    return typed.text, replace(shown, opened=opened)


def _add(request: ProjectRequest, typed: Typed, argument: str, shown: _Shown) -> _Result:
    uses = request.POST.get("add_uses", "").strip()
    if not uses:
        raise InvalidInput("Choose what the new step uses.", field="add_uses")
    parsed = workflow_yaml.parse(typed.text, limits=settings.LIMITS)
    document = parsed.document or _steps(typed).document  # which raises the error of the parser
    capability = capability_registry.of(request.project.pk).find(uses)
    step = step_edits.new_step(uses, capability, parsed.sketch, step_edits.ids(document))
    number = len(step_cards.steps_of(document))
    text = Steps(typed.text, settings.LIMITS, document).add(step)
    return text, replace(shown, opened=str(number), words=f"Added the step {step['id']}.")


def _copy(request: ProjectRequest, typed: Typed, argument: str, shown: _Shown) -> _Result:
    steps, number = _step(typed, argument)
    return steps.copy(number), replace(shown, opened=str(number + 1), words="Copied the step.")


def _move(by: int) -> "_Action":
    def move(request: ProjectRequest, typed: Typed, argument: str, shown: _Shown) -> _Result:
        steps, number = _step(typed, argument)
        text = steps.move(number, by)
        if text == typed.text:
            return text, shown
        places = {str(number): str(number + by), str(number + by): str(number)}
        words = f"Moved the step {'up' if by < 0 else 'down'}."
        return text, replace(shown, opened=places.get(shown.opened, shown.opened), words=words)

    return move


def _remove(request: ProjectRequest, typed: Typed, argument: str, shown: _Shown) -> _Result:
    """Remove a step, after a question if other steps wait for it."""
    sure = argument.startswith("sure:")
    argument = argument.removeprefix("sure:")
    steps, number = _step(typed, argument)
    document = steps.document
    id_ = step_edits.ids(document)[number]
    dependants = tuple(dict.fromkeys(step_cards.references(document, id_).values())) if id_ else ()
    if dependants and not sure:
        return typed.text, replace(shown, removing=(f"{number}:{id_}", dependants))
    opened = shown.opened
    if opened.isdecimal() and int(opened) >= number:
        opened = "" if int(opened) == number else str(int(opened) - 1)
    also = f" {counted(len(dependants), 'step')} no longer waits for it." if len(dependants) == 1 else ""
    also = f" {counted(len(dependants), 'step')} no longer wait for it." if len(dependants) > 1 else also
    name = id_ or f"step {number + 1}"
    return steps.remove(number), replace(shown, opened=opened, words=f"Removed {name}.{also}")


_Action = Callable[[ProjectRequest, Typed, str, _Shown], _Result]
_ACTIONS: dict[str, _Action] = {
    "open": _open,
    "add": _add,
    "copy": _copy,
    "up": _move(-1),
    "down": _move(1),
    "remove": _remove,
}
_LEAVES: dict[str, Callable[[Addresses], str]] = {
    "form": lambda urls: f"{urls.editor}?mode={FORM}",
    "raw": lambda urls: f"{urls.editor}?mode={RAW}",
    "back": lambda urls: urls.editor,
}
