"""Settings → Team. What is not of the current account is not found."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts import team
from accounts.authentication.second_factor.proof import require_factor
from accounts.forms import InviteForm, RoleForm
from accounts.models import Membership
from accounts.permissions import form_on_page, require_permission
from accounts.request import AccountRequest
from accounts.roles import DESCRIPTIONS, Role, TeamPermission, roles_given_by

PAGE = "accounts:show-team"


@require_safe
@require_permission(TeamPermission.LOOK)
def show_team(request: AccountRequest) -> HttpResponse:
    return _team_page(request, InviteForm())


@form_on_page(PAGE)
@require_permission(TeamPermission.MANAGE_TEAM)
def invite_member(request: AccountRequest) -> HttpResponse:
    form = InviteForm(request.POST)
    if form.is_valid():
        if form.cleaned_data["role"] == Role.OWNER:
            require_factor(request)
        try:
            invitation = team.invite_member(
                account=request.account, actor=request.user, ip=request.ip, **form.cleaned_data
            )
        except team.TeamError as error:
            form.add_error("email", str(error))
        else:
            messages.success(request, f"{invitation.email} is invited by mail.")
            return redirect(PAGE)
    return _team_page(request, form)


@form_on_page(PAGE)
@require_permission(TeamPermission.MANAGE_TEAM)
def withdraw_invitation(request: AccountRequest, invitation_id: str) -> HttpResponse:
    waiting = request.account.invitations.waiting()
    invitation = get_object_or_404(waiting, public_id=invitation_id)
    try:
        team.withdraw_invitation(invitation=invitation, actor=request.user, ip=request.ip)
    except team.TeamError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The invitation of {invitation.email} is withdrawn.")
    return redirect(PAGE)


@form_on_page(PAGE)
@require_permission(TeamPermission.MANAGE_TEAM)
def change_role(request: AccountRequest, membership_id: str) -> HttpResponse:
    membership = _member(request, membership_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose a role.")
        return redirect(PAGE)
    role = form.cleaned_data["role"]
    if role == Role.OWNER:
        require_factor(request)
    try:
        team.change_role(membership=membership, role=role, actor=request.user, ip=request.ip)
    except team.TeamError as error:
        messages.error(request, str(error))
    else:
        name = membership.user.display_name()
        messages.success(request, f"{name} now has the role {role.label}.")
    return redirect(PAGE)


@require_http_methods(["GET", "HEAD", "POST"])
@require_permission(TeamPermission.LOOK)
def remove_member(request: AccountRequest, membership_id: str) -> HttpResponse:
    """Remove somebody, or leave."""
    membership = _member(request, membership_id)
    leaving = membership == request.membership
    if request.method != "POST":
        context = {"member": membership, "leaving": leaving}
        return render(request, "accounts/remove_member.html", context)
    try:
        team.remove_member(membership=membership, actor=request.user, ip=request.ip)
    except team.TeamError as error:
        messages.error(request, str(error))
        return redirect(PAGE)
    if leaving:
        messages.success(request, f"You have left {request.account.name}.")
        return redirect("validation:show-overview")
    messages.success(request, f"{membership.user.display_name()} is removed.")
    return redirect(PAGE)


def _team_page(request: AccountRequest, form: InviteForm) -> HttpResponse:
    mine = roles_given_by(Role(request.membership.role))
    form.offer(mine)
    context = {
        "members": request.account.memberships.select_related("user"),
        "invitations": request.account.invitations.waiting(),
        "form": form,
        "may_manage": request.membership.may(TeamPermission.MANAGE_TEAM),
        "roles": mine,
        "descriptions": [(role.label, text) for role, text in DESCRIPTIONS.items()],
    }
    return render(request, "accounts/show_team.html", context)


def _member(request: AccountRequest, membership_id: str) -> Membership:
    members = request.account.memberships.select_related("user", "account")
    return get_object_or_404(members, public_id=membership_id)
