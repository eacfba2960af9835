"""The page that imports test questions: pasted lines, a file, the built-in set, or those of a skill’s bundle."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from registry.core import roles
from registry.core.catalog.precedence import BUNDLED
from registry.core.errors import InvalidRequest, NotFound, SkillsiteError, TooLarge
from registry.core.routing import golden_files
from registry.core.routing.golden import Case, query_digest
from registry.services.catalog import catalog
from registry.services.routing import golden_set, library_set
from registry.services.routing.golden_set import Added
from registry.web.access import ProjectRequest, in_project, needs
from registry.web.htmx import render
from registry.web.humanize import counted
from registry.web.routing import tabs
from registry.web.routing.verdict_words import CATEGORIES
from registry.web.skills import name_options

_FILE_BYTES = 1024 * 1024  # of a file on this page, because its text goes back and forth in the form
_SHOWN = 30
_TO = "open the test questions"


class ImportForm(forms.Form):
    text = forms.CharField(
        label="Questions",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        help_text=(
            "One question on each line: the question, a tab or a comma, the name of the skill. Write - for no skill. "
            "Put a question with a comma in quotes. You can also paste two columns of a spreadsheet, or JSON."
        ),
        error_messages={"null_characters_not_allowed": "The text contains a NUL character. Remove it."},
    )
    file = forms.FileField(
        label="Or a file",
        required=False,
        allow_empty_file=True,
        help_text="A table, CSV or JSON as above, at most 1 MiB. If you choose a file, the field above is ignored.",
    )
    skill = forms.CharField(
        label="Skill of these questions",
        required=False,
        max_length=128,
        widget=forms.TextInput(attrs={"list": "known-names", "autocomplete": "off"}),
        help_text="Needed only for entries with “should_trigger” that do not name their skill.",
    )

    def content(self) -> str:
        """Return the text of the file if there is one, otherwise the pasted text."""
        sent = self.cleaned_data["file"]
        if sent is None:
            return str(self.cleaned_data["text"])
        if sent.size > _FILE_BYTES:
            raise TooLarge(f"The file has {sent.size:,} bytes. {_FILE_BYTES:,} are allowed here.", field="file")
        try:
            return str(sent.read().decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise InvalidRequest(
                "The file is not UTF-8 text. Save a spreadsheet as CSV in UTF-8, or paste its columns above.",
                field="file",
            ) from None


@dataclass(frozen=True, slots=True)
class PreviewRow:
    case: Case
    category: str
    effect: str
    stale: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The questions that would be saved. `rows` are the first of them."""

    total: int
    new: int
    replaced: int
    rows: tuple[PreviewRow, ...]

    @property
    def unchanged(self) -> int:
        return self.total - self.new - self.replaced


@in_project
@needs(roles.WRITE, to=_TO)
@require_http_methods(["GET", "HEAD", "POST"])
def import_questions(request: ProjectRequest) -> HttpResponse:
    """Show the form; a POST checks the questions, or saves them if `do` is `save`."""
    if request.method != "POST":
        return _first_page(request)
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form)
    try:
        text = form.content()
        cases = golden_files.read(text, skill=form.cleaned_data["skill"].strip())
        if request.POST.get("do") == "save":
            return _saved(request, golden_set.add(request.project, cases, by=request.actor))
    except (InvalidRequest, TooLarge) as error:
        return _page(request, form, error=error)
    kept = ImportForm(initial={"text": text, "skill": form.cleaned_data["skill"]})
    return _page(request, kept, preview=_preview(request, cases))


def _first_page(request: ProjectRequest) -> HttpResponse:
    if name := request.GET.get("from"):
        return _of_skill(request, name)
    if "built-in" in request.GET and (cases := _built_in(request)):
        return _preview_of(request, cases, "the built-in skills")
    return _page(request, ImportForm())


def _built_in(request: ProjectRequest) -> tuple[Case, ...]:
    """Return the shipped questions for those built-in skills that this project serves."""
    served = catalog.view(request.project.pk, request.project.revision).served
    return library_set.cases_for(candidate.name for candidate in served if candidate.source == BUNDLED)


def _of_skill(request: ProjectRequest, name: str) -> HttpResponse:
    """Show the questions that a skill has in its bundle, ready to be saved."""
    loaded = catalog.load(request.project.pk, name)
    path = golden_files.EVALS
    if not any(entry.path == path for entry in loaded.files):
        raise NotFound(f"{loaded.name} has no test questions in {path}.")
    try:
        cases = golden_files.read(loaded.read(loaded.entry(path)), skill=loaded.name)
    except (InvalidRequest, TooLarge) as error:
        return _page(request, ImportForm(initial={"skill": loaded.name}), error=error, source=loaded.name)
    return _preview_of(request, cases, loaded.name)


def _preview_of(request: ProjectRequest, cases: Sequence[Case], source: str) -> HttpResponse:
    form = ImportForm(initial={"text": golden_files.to_json_lines(cases)})
    return _page(request, form, preview=_preview(request, cases), source=source)


def _preview(request: ProjectRequest, cases: Sequence[Case]) -> Preview:
    known = {row.query_digest: golden_set.as_case(row) for row in golden_set.cases(request.project, by=request.actor)}
    stale = {one.case: one.reason for one in golden_set.split(request.project.pk, request.project.revision, cases)[1]}
    effects = [_effect(case, known.get(query_digest(case.query))) for case in cases]
    rows = tuple(
        PreviewRow(case, CATEGORIES[case.category], effect, stale.get(case, ""))
        for case, effect in zip(cases[:_SHOWN], effects, strict=False)
    )
    return Preview(len(cases), effects.count("new"), effects.count("replaces"), rows)


def _effect(case: Case, before: Case | None) -> str:
    return "new" if before is None else "unchanged" if before == case else "replaces"


def _saved(request: ProjectRequest, added: Added) -> HttpResponse:
    parts = [f"{counted(added.added, 'test question')} added"]
    parts += [f"{added.replaced} replaced"] if added.replaced else []
    parts += [f"{added.unchanged} unchanged"] if added.unchanged else []
    messages.success(request, f"{', '.join(parts)}.")
    return redirect("routing-questions", request.project.slug)


def _page(
    request: ProjectRequest,
    form: ImportForm,
    *,
    preview: Preview | None = None,
    error: SkillsiteError | None = None,
    source: str = "",
) -> HttpResponse:
    view = catalog.view(request.project.pk, request.project.revision)
    more: dict[str, Any] = {
        "form": form,
        "preview": preview,
        "errors": _messages(error),
        "source": source,
        "from_file": "file" in request.FILES,
        "built_in": 0 if preview or error else len(_built_in(request)),
        **name_options.name_options(view),
    }
    context = tabs.page(request, "routing-questions", **more)
    return render(request, "routing/import.html", context, status=422 if error or form.errors else 200)


def _messages(error: SkillsiteError | None) -> list[str]:
    """Return one sentence for each wrong line, or the whole message."""
    if error is None:
        return []
    listed = error.data.get("errors")
    return [str(one) for one in listed] if isinstance(listed, list) else [error.message]
