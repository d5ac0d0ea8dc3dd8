"""Settings → Profile: the person, and the account they work in."""

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import audit, services
from accounts.access import for_account
from accounts.forms import AccountForm, CloseAccountForm, ProfileForm
from accounts.middleware import CURRENT_ACCOUNT
from accounts.requests import AccountRequest
from accounts.roles import Act

PAGE = "accounts/edit_profile.html"


@require_http_methods(["GET", "HEAD", "POST"])
@for_account(Act.LOOK)
def edit_profile(request: AccountRequest) -> HttpResponse:
    form = ProfileForm(request.POST or None, instance=request.user)
    if form.is_valid():
        form.save()
        audit.record(request.account, request.user, "user.renamed", request.user.name, request.ip)
        messages.success(request, "Your name is saved.")
        return redirect("accounts:edit-profile")
    context = {"profile_form": form, "account_form": AccountForm(instance=request.account)}
    return render(request, PAGE, context)


@require_POST
@for_account(Act.RENAME_ACCOUNT)
def rename_account(request: AccountRequest) -> HttpResponse:
    account = request.account
    form = AccountForm(request.POST, instance=type(account)(pk=account.pk))
    if form.is_valid():
        services.rename_account(
            account=account, name=form.cleaned_data["name"], actor=request.user, ip=request.ip
        )
        messages.success(request, "The account's name is saved.")
        return redirect("accounts:edit-profile")
    context = {"profile_form": ProfileForm(instance=request.user), "account_form": form}
    return render(request, PAGE, context)


@require_safe
@for_account(Act.EXPORT_ACCOUNT)
def export_account(request: AccountRequest) -> HttpResponse:
    account = request.account
    audit.record(account, request.user, "account.exported", account.name, request.ip)
    response = JsonResponse(
        services.export_account(account=account),
        json_dumps_params={"indent": 2, "ensure_ascii": False},
    )
    response["Content-Disposition"] = f'attachment; filename="{account.public_id}.json"'
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@for_account(Act.CLOSE_ACCOUNT)
@reauthentication_required  # type: ignore[untyped-decorator]
def close_account(request: AccountRequest) -> HttpResponse:
    form = CloseAccountForm(request.account, request.POST or None)
    if not form.is_valid():
        return render(request, "accounts/close_account.html", {"form": form})
    services.close_account(account=request.account, actor=request.user, ip=request.ip)
    request.session.pop(CURRENT_ACCOUNT, None)
    if not request.user.memberships.in_open_accounts().exists():
        logout(request)
    return redirect("accounts:show-closed")


@require_POST
@for_account(Act.LOOK)
def switch_account(request: AccountRequest) -> HttpResponse:
    # An account the user does not belong to changes nothing: the middleware asks the memberships.
    request.session[CURRENT_ACCOUNT] = request.POST.get("account", "")
    return redirect("validation:show-overview")


@require_http_methods(["GET", "HEAD", "POST"])
def open_account(request: HttpRequest) -> HttpResponse:
    """For who belongs to no account any more, or wants another one."""
    form = AccountForm(request.POST or None)
    if form.is_valid():
        account = services.open_account(
            user=request.user,  # type: ignore[arg-type]
            name=form.cleaned_data["name"],
            ip=request.ip,  # type: ignore[attr-defined]
        )
        request.session[CURRENT_ACCOUNT] = account.public_id
        return redirect("validation:show-overview")
    return render(request, "accounts/open_account.html", {"form": form})
