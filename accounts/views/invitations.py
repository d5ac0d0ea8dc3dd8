"""Invitations. The link proves access to the mailbox."""

from allauth.account.adapter import get_adapter
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import team
from accounts.authentication.forms import INVITATION_SESSION_KEY
from accounts.authentication.second_factor.factors import has_second_factor
from accounts.middleware import CURRENT_ACCOUNT_SESSION_KEY
from accounts.models import Invitation
from accounts.presenters.team import invitation_requirement
from accounts.request import AccountRequest
from accounts.roles import ROLE_DESCRIPTIONS, Role
from runtime.http.refusals import show_refusal


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def accept_invitation(request: AccountRequest, token: str) -> HttpResponse:
    invitation = Invitation.objects.by_token(token)
    if invitation is None:
        return render(request, "accounts/invitation_gone.html", status=404)
    is_invited = request.user.is_authenticated and request.user.email == invitation.email
    if request.method == "POST" and is_invited:
        with show_refusal(request):
            membership = team.accept_invitation(invitation=invitation, user=request.user)
            request.session.pop(INVITATION_SESSION_KEY, None)
            request.session[CURRENT_ACCOUNT_SESSION_KEY] = membership.account.public_id
            messages.success(request, f"You joined {membership.account.name}.")
        return redirect("validation:show-overview")
    if not request.user.is_authenticated:
        # A sign-up with the invited address skips the code and opens no account.
        get_adapter(request).stash_verified_email(request, invitation.email)
        request.session[INVITATION_SESSION_KEY] = invitation.public_id
    has_factor = request.user.is_authenticated and has_second_factor(request.user)
    context = {
        "invitation": invitation,
        "requirement": invitation_requirement(invitation, has_factor=has_factor),
        "is_invited": is_invited,
        "description": ROLE_DESCRIPTIONS[Role(invitation.role)],
    }
    return render(request, "accounts/accept_invitation.html", context)
