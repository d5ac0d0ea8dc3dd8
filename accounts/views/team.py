from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from accounts import team
from accounts.authentication.second_factor.factors import users_with_second_factor
from accounts.authentication.second_factor.proof import factor_required, require_factor
from accounts.authentication.second_factor.requirement import change_requirement
from accounts.forms import InviteForm, RoleForm
from accounts.models import Membership, User
from accounts.permissions import require_permission
from accounts.presenters.team import factor_setting, member_rows
from accounts.request import AccountRequest
from accounts.roles import ROLE_DESCRIPTIONS, Role, TeamPermission, roles_assignable_by
from runtime.http.refusals import Refused, show_refusal

PAGE = "accounts:show-team"


@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_team(request: AccountRequest) -> HttpResponse:
    return _team_page(request, InviteForm())


@require_permission(TeamPermission.MANAGE_TEAM, form_page=PAGE)
def invite_member(request: AccountRequest) -> HttpResponse:
    form = InviteForm(request.POST)
    if form.is_valid():
        if form.cleaned_data["role"] == Role.OWNER:
            require_factor(request)
        try:
            invitation = team.invite_member(
                account=request.account, actor=request.user, **form.cleaned_data
            )
        except Refused as error:
            form.add_error("email", str(error))
        else:
            messages.success(request, f"Invitation sent to {invitation.email}.")
            return redirect(PAGE)
    return _team_page(request, form)


@require_permission(TeamPermission.MANAGE_TEAM, form_page=PAGE)
def withdraw_invitation(request: AccountRequest, invitation_id: str) -> HttpResponse:
    pending = request.account.invitations.pending()
    invitation = get_object_or_404(pending, public_id=invitation_id)
    with show_refusal(request):
        team.withdraw_invitation(invitation=invitation, actor=request.user)
        messages.success(request, f"The invitation to {invitation.email} was withdrawn.")
    return redirect(PAGE)


@require_permission(TeamPermission.MANAGE_TEAM, form_page=PAGE)
def change_role(request: AccountRequest, membership_id: str) -> HttpResponse:
    membership = _get_member(request, membership_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose a role.")
        return redirect(PAGE)
    role = form.cleaned_data["role"]
    if role == Role.OWNER:
        require_factor(request)
    with show_refusal(request):
        team.change_role(membership=membership, role=role, actor=request.user)
        name = membership.user.display_name()
        messages.success(request, f"{name} now has the role {role.label}.")
    return redirect(PAGE)


@require_permission(TeamPermission.VIEW_ACCOUNT, takes_post=True)
def remove_member(request: AccountRequest, membership_id: str) -> HttpResponse:
    membership = _get_member(request, membership_id)
    is_leaving = membership == request.membership
    if request.method != "POST":
        context = {"member": membership, "is_leaving": is_leaving}
        return render(request, "accounts/remove_member.html", context)
    with show_refusal(request):
        team.remove_member(membership=membership, actor=request.user)
        if is_leaving:
            messages.success(request, f"You left {request.account.name}.")
            return redirect("validation:show-overview")
        messages.success(request, f"{membership.user.display_name()} was removed.")
    return redirect(PAGE)


@require_permission(TeamPermission.REQUIRE_SECOND_FACTOR, form_page=PAGE)
@factor_required(back_to=PAGE)
def require_second_factor(request: AccountRequest) -> HttpResponse:
    is_required = request.POST.get("required") == "yes"
    with show_refusal(request):
        change_requirement(account=request.account, is_required=is_required, actor=request.user)
        name = request.account.name
        now = f"{name} now requires a second factor for all members."
        messages.success(
            request, now if is_required else f"A second factor is now optional in {name}."
        )
    return redirect(PAGE)


def _team_page(request: AccountRequest, form: InviteForm) -> HttpResponse:
    assignable_roles = roles_assignable_by(Role(request.membership.role))
    form.limit_choices(assignable_roles)
    members = list(request.account.memberships.select_related("user"))
    users = {member.user for member in members}
    without_factor: set[User] = set()
    setting = None
    if request.membership.has_permission(TeamPermission.REQUIRE_SECOND_FACTOR):
        without_factor = users - users_with_second_factor(users)
        setting = factor_setting(
            is_required=request.account.requires_second_factor,
            members=len(users),
            without_factor=len(without_factor),
            viewer_has_factor=request.user not in without_factor,
        )
    context = {
        "members": member_rows(members, request.membership, assignable_roles, without_factor),
        "factor_setting": setting,
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
