"""Signing in and out, the one-time link, and the colours of the pages."""

from typing import cast

from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm, SetPasswordForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from registry.core.errors import NotFound
from registry.models import User
from registry.services import accounts
from registry.web.context import THEMES

_YEAR = 365 * 24 * 3600


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect("projects")
    wanted = request.POST.get("next", request.GET.get("next", ""))
    following = wanted if _is_ours(request, wanted) else ""
    if request.method != "POST":
        return render(request, "accounts/sign_in.html", {"form": AuthenticationForm(request), "next": following})
    name = request.POST.get("username", "")
    accounts.check_attempts(name)
    form = AuthenticationForm(request, data=request.POST)
    if not form.is_valid():
        accounts.note_failure(name)
        return render(request, "accounts/sign_in.html", {"form": form, "next": following}, status=422)
    user = form.get_user()
    accounts.note_sign_in(user)
    login(request, user)
    return redirect(following or "projects")


def _is_ours(request: HttpRequest, address: str) -> bool:
    return url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Looking at the link does not spend it: mail scanners and previews look too. Pressing the button does."""
    now = timezone.now()
    try:
        if request.method != "POST":
            person = accounts.peek_sign_in_link(secret, now=now)
            response = render(request, "accounts/sign_in_link.html", {"person": person})
        else:
            user = accounts.spend_sign_in_link(secret, now=now)
            login(request, user, backend="django.contrib.auth.backends.ModelBackend")
            response = redirect("projects")
    except NotFound:
        response = render(request, "accounts/sign_in_link.html", {"person": None}, status=404)
    response["Referrer-Policy"] = "no-referrer"
    return response


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("sign-in")


@login_required
@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    form = SetPasswordForm(user, request.POST if request.method == "POST" else None)
    if request.method == "POST":
        if not form.is_valid():
            return render(request, "accounts/account.html", {"form": form}, status=422)
        accounts.set_password(user, form.cleaned_data["new_password1"])
        update_session_auth_hash(request, user)
        return redirect("account")
    return render(request, "accounts/account.html", {"form": form})


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    back = request.META.get("HTTP_REFERER", "")
    response = redirect(back if _is_ours(request, back) else "projects")
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie("theme", chosen, max_age=_YEAR, samesite="Lax")
    else:
        response.delete_cookie("theme", samesite="Lax")
    return response
