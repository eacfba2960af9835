"""Sign-in, the account page, and the colour theme."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout, password_validation, update_session_auth_hash
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from registry.core.errors import InvalidRequest, NotFound, RateLimited
from registry.models import User
from registry.models.notifications import EVERYTHING, NOTHING, WAITING
from registry.services.notifications import email, email_preferences
from registry.services.people import accounts, password_throttle, sessions
from registry.web import user_agent
from registry.web.access import PersonRequest, signed_in
from registry.web.htmx import render
from registry.web.humanize import counted
from registry.web.navigation import THEMES

_YEAR = 365 * 24 * 3600
_BACKEND = "django.contrib.auth.backends.ModelBackend"


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": "Wrong username or password.",
        "inactive": "Wrong username or password.",
    }


class NameForm(forms.Form):
    full_name = forms.CharField(
        label="Name",
        max_length=accounts.FULL_NAME_CHARS,
        help_text="Others see this name next to your changes.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        error_messages={"required": "Enter your name."},
    )


class MailForm(forms.Form):
    address = forms.CharField(
        label="Address",
        required=False,
        max_length=email_preferences.ADDRESS_CHARS,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
        help_text="We send a link to a new address. Open it to confirm the address. Without an address, you get "
        "notifications in your inbox only.",
    )
    wanted = forms.ChoiceField(
        label="Email me about",
        choices=[
            (NOTHING, "Nothing"),
            (WAITING, "Only what is waiting for me"),
            (EVERYTHING, "Everything in my inbox"),
        ],
    )


class PasswordForm(forms.Form):
    """A new password. People who already have one must enter it as well."""

    current = forms.CharField(
        label="Current password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        error_messages={"required": "Enter your current password."},
    )
    new = forms.CharField(
        label="New password",
        strip=False,
        help_text="At least 10 characters, and not a common password.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        error_messages={"required": "Enter a new password of at least 10 characters."},
    )
    again = forms.CharField(
        label="New password again",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        error_messages={"required": "Enter the new password again."},
    )

    def __init__(self, user: User, data: Any = None) -> None:
        super().__init__(data)
        self.user = user
        if not user.has_usable_password():
            del self.fields["current"]

    def clean_current(self) -> str:
        current = str(self.cleaned_data["current"])
        if not self.user.check_password(current):
            raise ValidationError("This is not your current password.")
        return current

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if "new" in values and "again" in values and values["new"] != values["again"]:
            self.add_error("again", "The two passwords are different.")
        if "new" in values:
            try:
                password_validation.validate_password(values["new"], self.user)
            except ValidationError as error:
                self.add_error("new", error)
        return values


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    target = request.POST.get("next", request.GET.get("next", ""))
    following = target if _is_ours(request, target) else ""
    if request.user.is_authenticated:
        return redirect(following or "projects")
    if request.method != "POST":
        return render(request, "account/sign_in.html", {"form": SignInForm(request), "next": following})
    address = user_agent.address(request)
    try:
        password_throttle.attempt(request.POST.get("username", ""), address=address)
    except RateLimited as error:
        form = SignInForm(request, initial={"username": request.POST.get("username", "")})
        context = {"form": form, "next": following, "refused": error.message}
        response = render(request, "account/sign_in.html", context, status=429)
        response["Retry-After"] = str(error.data["retry_after"])
        return response
    form = SignInForm(request, data=request.POST)
    if not form.is_valid():
        return render(request, "account/sign_in.html", {"form": form, "next": following}, status=422)
    password_throttle.succeeded(form.get_user(), address=address)
    password_throttle.record_sign_in(form.get_user())
    _begin(request, form.get_user())
    return redirect(following or "projects")


def _begin(request: HttpRequest, user: User) -> None:
    login(request, user, backend=_BACKEND)
    sessions.begin(user, user_agent.browser(request), now=timezone.now())


def _is_ours(request: HttpRequest, address: str) -> bool:
    return url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Show the link on GET and use it up on POST only, because mail scanners and previews open links."""
    now = timezone.now()
    try:
        if request.method != "POST":
            person = accounts.peek_sign_in_link(secret, now=now)
            return render(request, "account/sign_in_link.html", {"person": person})
        _begin(request, accounts.spend_sign_in_link(secret, now=now))
    except NotFound:
        return render(request, "account/sign_in_link.html", {"person": None}, status=404)
    return redirect("projects")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("sign-in")


@signed_in
@require_safe
def account(request: PersonRequest) -> HttpResponse:
    return _page(request)


def _page(request: PersonRequest, *, status: int = 200, **forms: forms.Form) -> HttpResponse:
    unconfirmed, preference = email_preferences.unconfirmed_address(request.user), email.preference_of(request.user.pk)
    context = {
        "name": NameForm(initial={"full_name": request.user.get_full_name()}),
        "mail": MailForm(initial={"address": unconfirmed or request.user.email, "wanted": preference}),
        "unconfirmed": unconfirmed,
        "preference": preference,
        "password": PasswordForm(request.user),
        "sessions": sessions.list_active(request.user, now=timezone.now()),
        "this": request.session.session_key,
        **forms,
    }
    return render(request, "account/account.html", context, status=status)


@signed_in
@require_POST
def rename(request: PersonRequest) -> HttpResponse:
    form = NameForm(request.POST)
    if not form.is_valid():
        return _page(request, name=form, status=422)
    try:
        accounts.rename(request.user, form.cleaned_data["full_name"])
    except InvalidRequest as error:
        form.add_error("full_name", error.message)
        return _page(request, name=form, status=422)
    messages.success(request, "Name saved.")
    return redirect("account")


@signed_in
@require_POST
def choose_mail(request: PersonRequest) -> HttpResponse:
    form = MailForm(request.POST)
    if not form.is_valid():
        return _page(request, mail=form, status=422)
    try:
        again = request.POST.get("again") == "yes"
        asks = email_preferences.choose(request.user, **form.cleaned_data, again=again)
    except InvalidRequest as error:
        form.add_error("address", error.message)
        return _page(request, mail=form, status=422)
    link = f" We sent a link to {form.cleaned_data['address'].strip()}. It works for a day."
    messages.success(request, f"Email settings saved.{link if asks else ''}")
    return redirect("account")


@signed_in
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def confirm_mail(request: PersonRequest, secret: str) -> HttpResponse:
    """Show the link on GET and use it up on POST only, because mail scanners open links."""
    try:
        if request.method == "POST":
            address = email_preferences.confirm(request.user, secret)
            messages.success(request, f"Address confirmed. Your email now goes to {address}.")
            return redirect("account")
        context = {"address": email_preferences.find_confirmation(request.user, secret).address}
    except NotFound as error:
        context = {"refused": error.message}
    return render(request, "account/confirm_mail.html", context, status=404 if "refused" in context else 200)


@signed_in
@sensitive_post_parameters()
@require_POST
def password(request: PersonRequest) -> HttpResponse:
    """Set the password and end every other session, in case somebody else knew the old one."""
    user, address = request.user, user_agent.address(request)
    password_throttle.attempt(user.username, address=address)
    form = PasswordForm(user, request.POST)
    if not form.is_valid():
        return _page(request, password=form, status=422)
    password_throttle.succeeded(user, address=address)
    accounts.set_password(user, form.cleaned_data["new"])
    update_session_auth_hash(request, user)
    ended = sessions.end_others(user, keep=request.session.session_key or "")
    sessions.begin(user, user_agent.browser(request), now=timezone.now())
    others = f" {counted(ended, 'other session')} signed out." if ended else ""
    messages.success(request, f"Password set.{others}")
    return redirect("account")


@signed_in
@require_POST
def end_session(request: PersonRequest, session: int) -> HttpResponse:
    sessions.end(request.user, session)
    messages.success(request, "Session signed out.")
    return redirect("account")


@signed_in
@require_POST
def end_other_sessions(request: PersonRequest) -> HttpResponse:
    ended = sessions.end_others(request.user, keep=request.session.session_key or "")
    messages.success(request, f"{counted(ended, 'session')} signed out. You are signed in here only.")
    return redirect("account")


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    back = request.META.get("HTTP_REFERER", "")
    response = redirect(back if _is_ours(request, back) else "projects")
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie("theme", chosen, max_age=_YEAR, samesite="Lax", secure=settings.HTTPS)
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response
