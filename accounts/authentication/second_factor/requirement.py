from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import cast

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.text import get_text_list

from accounts import audit, emails
from accounts.authentication.second_factor.factors import (
    FACTORS,
    has_second_factor,
    users_with_second_factor,
)
from accounts.models import Account, User
from accounts.roles import TeamPermission
from runtime.http.refusals import Refused

View = Callable[..., HttpResponseBase]

ACTIONS = {True: "team.second_factor_required", False: "team.second_factor_optional"}
OWN_FACTOR_FIRST = "Set up your own second factor first."


@transaction.atomic
def change_requirement(*, account: Account, is_required: bool, actor: User) -> None:
    if not Account.objects.lock_if_open(account):
        raise Refused("This account is closed.")
    own = account.memberships.filter(user=actor).first()
    if own is None or not own.has_permission(TeamPermission.REQUIRE_SECOND_FACTOR):
        raise PermissionDenied("Your role doesn't allow this change. Ask an owner.")
    if is_required and not has_second_factor(actor):
        raise Refused(OWN_FACTOR_FIRST)
    required_at = timezone.now() if is_required else None
    unchanged = Account.objects.filter(pk=account.pk, second_factor_required_at__isnull=is_required)
    if not unchanged.update(second_factor_required_at=required_at):
        return
    audit.record(account, actor, ACTIONS[is_required])
    if is_required:
        _notify_members(account, actor)


def _notify_members(account: Account, actor: User) -> None:
    members = User.objects.filter(memberships__account=account).exclude(pk=actor.pk)
    having = users_with_second_factor(members)
    for user in members:
        has_factor = user in having
        emails.queue_second_factor_required(
            account=account, actor=actor, to=user.email, has_factor=has_factor
        )


def keep_required_factor(view: View) -> View:
    @wraps(view)
    def wrapper(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        user = cast(User, request.user)
        if not user.is_authenticated:
            return view(request, *args, **kwargs)
        is_form = request.method == "POST"
        with transaction.atomic() if is_form else nullcontext():
            refusal = _removal_refusal(user, lock=is_form)
            if not refusal:
                return view(request, *args, **kwargs)
        messages.error(request, refusal)
        return redirect("accounts:show-security")

    return wrapper


def _removal_refusal(user: User, *, lock: bool) -> str:
    """Return why to keep the only factor, or nothing. `lock` serializes removals."""
    factors = Authenticator.objects.filter(user=user, type__in=FACTORS)
    if len(factors.select_for_update() if lock else factors) > 1:
        return ""
    names = [
        membership.account.name
        for membership in user.memberships.in_open_accounts()
        if membership.account.requires_second_factor
    ]
    if not names:
        return ""
    verb = "require" if len(names) > 1 else "requires"
    return (
        f"{get_text_list(names, 'and')} {verb} a second factor, and this is your only one. "
        "Set up another one before you remove it."
    )
