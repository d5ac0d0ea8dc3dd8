from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts import services
from accounts.authentication.second_factor.proof import factor_required
from accounts.forms import AccountForm, CloseAccountForm, PreferencesForm, ProfileForm
from accounts.middleware import CURRENT_ACCOUNT_SESSION_KEY
from accounts.permissions import redirect_get_to, require_permission
from accounts.request import AccountRequest, SignedInRequest
from accounts.roles import TeamPermission
from runtime.http.refusals import Refused

PAGE = "accounts:edit-profile"


@require_http_methods(["GET", "HEAD", "POST"])
def edit_profile(request: SignedInRequest) -> HttpResponse:
    form = ProfileForm(request.POST or None, initial={"name": request.user.name})
    if form.is_valid():
        name = form.cleaned_data["name"]
        services.rename_user(user=request.user, name=name, account=request.account)
        messages.success(request, "Your name was saved.")
        return redirect(PAGE)
    return _profile_page(request, profile_form=form)


@redirect_get_to(PAGE)
def change_preferences(request: SignedInRequest) -> HttpResponse:
    form = PreferencesForm(request.POST)
    if form.is_valid():
        services.change_preferences(user=request.user, **form.cleaned_data)
        messages.success(request, "Your preferences were saved.")
        return redirect(PAGE)
    return _profile_page(request, preferences_form=form)


@require_permission(TeamPermission.RENAME_ACCOUNT, form_page=PAGE)
def rename_account(request: AccountRequest) -> HttpResponse:
    form = AccountForm(request.POST)
    if form.is_valid():
        services.rename_account(
            account=request.account, name=form.cleaned_data["name"], actor=request.user
        )
        messages.success(request, "The account's name was saved.")
        return redirect(PAGE)
    return _profile_page(request, account_form=form)


@require_permission(TeamPermission.EXPORT_ACCOUNT, form_page=PAGE)
@factor_required(back_to=PAGE)
def export_account(request: AccountRequest) -> HttpResponse:
    account = request.account
    response = JsonResponse(
        services.export_account(account=account, actor=request.user),
        json_dumps_params={"indent": 2, "ensure_ascii": False},
    )
    response["Content-Disposition"] = f'attachment; filename="{account.public_id}.json"'
    return response


@require_permission(TeamPermission.CLOSE_ACCOUNT, takes_post=True)
@factor_required()
@reauthentication_required  # type: ignore[untyped-decorator]
def close_account(request: AccountRequest) -> HttpResponse:
    form = CloseAccountForm(request.account, request.POST or None)
    if not form.is_valid():
        return render(request, "accounts/close_account.html", {"form": form})
    services.close_account(account=request.account, actor=request.user)
    request.session.pop(CURRENT_ACCOUNT_SESSION_KEY, None)
    if not request.user.memberships.in_open_accounts().exists():
        logout(request)
    return redirect("accounts:show-closed")


@require_permission(TeamPermission.VIEW_ACCOUNT, form_page="validation:show-overview")
def switch_account(request: AccountRequest) -> HttpResponse:
    account_id = request.POST.get("account")
    if account_id in {membership.account.public_id for membership in request.memberships}:
        request.session[CURRENT_ACCOUNT_SESSION_KEY] = account_id
    return redirect("validation:show-overview")


@require_http_methods(["GET", "HEAD", "POST"])
def open_account(request: SignedInRequest) -> HttpResponse:
    form = AccountForm(request.POST or None)
    if form.is_valid():
        try:
            account = services.open_another_account(
                user=request.user, name=form.cleaned_data["name"]
            )
        except Refused as error:
            form.add_error("name", str(error))
        else:
            request.session[CURRENT_ACCOUNT_SESSION_KEY] = account.public_id
            return redirect("validation:show-overview")
    return render(request, "accounts/open_account.html", {"form": form})


def _profile_page(request: SignedInRequest, **invalid: object) -> HttpResponse:
    context = {
        "profile_form": ProfileForm(instance=request.user),
        "preferences_form": PreferencesForm(instance=request.user),
        "account_form": AccountForm(instance=request.account),
        **invalid,
    }
    return render(request, "accounts/edit_profile.html", context)
