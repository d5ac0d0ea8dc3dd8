"""Settings → API Keys. Only the response that creates a key has its secret."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from accounts.authentication.second_factor.proof import factor_required, require_factor
from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from apikeys import services
from apikeys.forms import CreateKeyForm, KeySettingsForm, RotateKeyForm, access_of
from apikeys.hooks import key_requests
from apikeys.models import MAX_ACTIVE_KEYS, ApiKey, KeyChangeRefused
from apikeys.scopes import is_wider

PAGE = "apikeys:show-keys"
MAX_INACTIVE_SHOWN = 20


@require_permission(TeamPermission.MANAGE_KEYS)
def show_keys(request: AccountRequest) -> HttpResponse:
    keys = request.account.api_keys.select_related("created_by", "replaced_by", "account")
    active = list(keys.active())
    uses = services.find_credit_use(active)
    (count_requests,) = key_requests
    requests = count_requests(account=request.account)
    inactive = keys.exclude(pk__in=[key.pk for key in active])[:MAX_INACTIVE_SHOWN]
    context = {
        "active": [(key, uses.get(key.pk), requests.get(key.pk, 0)) for key in active],
        "inactive": inactive,
        "shown_inactive": MAX_INACTIVE_SHOWN,
        "max_keys": MAX_ACTIVE_KEYS,
        "may_create": len(active) < MAX_ACTIVE_KEYS,
    }
    return render(request, "apikeys/show_keys.html", context)


@require_permission(TeamPermission.MANAGE_KEYS, takes_post=True)
@factor_required()
def create_key(request: AccountRequest) -> HttpResponse:
    form = CreateKeyForm(request.account, request.POST or None)
    if form.is_valid():
        try:
            key, secret = services.create_key(
                account=request.account, actor=request.user, **form.cleaned_data
            )
        except services.FormAlreadyUsed as error:
            return render(request, "apikeys/key_shown_before.html", {"key": error.key})
        except KeyChangeRefused as error:
            form.add_error(None, str(error))
        else:
            return render(request, "apikeys/show_new_key.html", {"key": key, "secret": secret})
    return render(request, "apikeys/create_key.html", {"form": form})


@require_permission(TeamPermission.MANAGE_KEYS)
def show_created(request: AccountRequest, key_id: str) -> HttpResponse:
    """Handle a reload: the secret is shown only once."""
    key = _get_key(request, key_id)
    return render(request, "apikeys/key_shown_before.html", {"key": key})


@require_permission(TeamPermission.MANAGE_KEYS, takes_post=True)
def change_key(request: AccountRequest, key_id: str) -> HttpResponse:
    key = _get_key(request, key_id)
    initial = {
        "name": key.name,
        "allowed_networks": "\n".join(key.allowed_networks),
        "requests_per_minute": key.requests_per_minute,
        "credits_per_month": key.credits_per_month,
        **access_of(key.scope_names),
    }
    form = KeySettingsForm(request.account, request.POST or None, initial=initial)
    if form.is_valid():
        if is_wider(form.cleaned_data["scopes"], key.scope_names):
            require_factor(request)
        try:
            services.change_key(key=key, actor=request.user, **form.cleaned_data)
        except KeyChangeRefused as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Saved {key.name}. Changes apply from the next request.")
            return redirect(PAGE)
    use = services.find_credit_use([key]).get(key.pk)
    context = {"form": form, "key": key, "use": use}
    return render(request, "apikeys/change_key.html", context)


@require_permission(TeamPermission.MANAGE_KEYS, takes_post=True)
@factor_required()
def rotate_key(request: AccountRequest, key_id: str) -> HttpResponse:
    key = _get_key(request, key_id)
    if request.method != "POST":
        try:
            key.require_rotatable()
        except KeyChangeRefused as error:
            messages.error(request, str(error))
            return redirect(PAGE)
    form = RotateKeyForm(request.POST or None)
    if form.is_valid():
        try:
            replacement, secret = services.rotate_key(
                key=key, actor=request.user, **form.cleaned_data
            )
        except services.FormAlreadyUsed as error:
            return render(request, "apikeys/key_shown_before.html", {"key": error.key})
        except KeyChangeRefused as error:
            form.add_error(None, str(error))
        else:
            context = {"key": replacement, "secret": secret}
            return render(request, "apikeys/show_new_key.html", context)
    return render(request, "apikeys/rotate_key.html", {"form": form, "key": key})


@require_permission(TeamPermission.MANAGE_KEYS, takes_post=True)
def revoke_key(request: AccountRequest, key_id: str) -> HttpResponse:
    key = _get_key(request, key_id)
    if request.method != "POST":
        return render(request, "apikeys/revoke_key.html", {"key": key})
    if services.revoke_key(key=key, actor=request.user):
        messages.success(request, f"Revoked {key.name}. Requests with this key are now refused.")
    else:
        messages.info(request, f"{key.name} was already revoked.")
    return redirect(PAGE)


def _get_key(request: AccountRequest, key_id: str) -> ApiKey:
    keys = request.account.api_keys.select_related("account", "created_by", "replaced_by")
    return get_object_or_404(keys, public_id=key_id)
