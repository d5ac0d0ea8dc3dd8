"""Settings → Team. Members and invitations of other accounts are a 404."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts import team
from accounts.authentication.second_factor.proof import require_factor
from accounts.forms import InviteForm, RoleForm
from accounts.models import Membership
from accounts.permissions import redirect_get_to, require_permission
from accounts.presenters.team import describe_removal, member_rows
from accounts.request import AccountRequest
from accounts.roles import ROLE_DESCRIPTIONS, Role, TeamPermission, roles_assignable_by

PAGE = "accounts:show-team"


@require_safe
@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_team(request: AccountRequest) -> HttpResponse:
    return _team_page(request, InviteForm())


@redirect_get_to(PAGE)
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
            messages.success(request, f"Invitation sent to {invitation.email}.")
            return redirect(PAGE)
    return _team_page(request, form)


@redirect_get_to(PAGE)
@require_permission(TeamPermission.MANAGE_TEAM)
def withdraw_invitation(request: AccountRequest, invitation_id: str) -> HttpResponse:
    pending = request.account.invitations.pending()
    invitation = get_object_or_404(pending, public_id=invitation_id)
    try:
        team.withdraw_invitation(invitation=invitation, actor=request.user, ip=request.ip)
    except team.TeamError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The invitation to {invitation.email} was withdrawn.")
    return redirect(PAGE)


@redirect_get_to(PAGE)
@require_permission(TeamPermission.MANAGE_TEAM)
def change_role(request: AccountRequest, membership_id: str) -> HttpResponse:
    membership = _get_member(request, membership_id)
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
@require_permission(TeamPermission.VIEW_ACCOUNT)
def remove_member(request: AccountRequest, membership_id: str) -> HttpResponse:
    """Remove another member, or leave the account."""
    membership = _get_member(request, membership_id)
    is_leaving = membership == request.membership
    if request.method != "POST":
        removal = describe_removal(membership, is_leaving=is_leaving)
        context = {"member": membership, "removal": removal}
        return render(request, "accounts/remove_member.html", context)
    try:
        team.remove_member(membership=membership, actor=request.user, ip=request.ip)
    except team.TeamError as error:
        messages.error(request, str(error))
        return redirect(PAGE)
    if is_leaving:
        messages.success(request, f"You left {request.account.name}.")
        return redirect("validation:show-overview")
    messages.success(request, f"{membership.user.display_name()} was removed.")
    return redirect(PAGE)


def _team_page(request: AccountRequest, form: InviteForm) -> HttpResponse:
    assignable_roles = roles_assignable_by(Role(request.membership.role))
    form.limit_choices(assignable_roles)
    members = request.account.memberships.select_related("user")
    context = {
        "members": member_rows(members, request.membership, assignable_roles),
        "invitations": request.account.invitations.pending(),
        "form": form,
        "may_manage": request.membership.has_permission(TeamPermission.MANAGE_TEAM),
        "roles": assignable_roles,
        "descriptions": [(role.label, text) for role, text in ROLE_DESCRIPTIONS.items()],
    }
    return render(request, "accounts/show_team.html", context)


def _get_member(request: AccountRequest, membership_id: str) -> Membership:
    members = request.account.memberships.select_related("user", "account")
    return get_object_or_404(members, public_id=membership_id)
