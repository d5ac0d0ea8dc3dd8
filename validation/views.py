from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.access import for_account
from accounts.requests import AccountRequest
from accounts.roles import Act
from accounts.second_factor import has_second_factor
from apikeys.errors import REFUSALS
from credits.models import Pack, Plan
from validation.engine.meanings import by_verdict


@login_not_required
@require_safe
def show_landing(request: HttpRequest) -> HttpResponse:
    context = {"plans": Plan.objects.offered(), "packs": Pack.objects.offered()}
    return render(request, "validation/show_landing.html", context)


@login_not_required
@require_safe
def show_guide(request: HttpRequest) -> HttpResponse:
    context = {
        "verdicts": by_verdict(),
        "error_codes": list(REFUSALS),
        "plans": Plan.objects.offered(),
        "anonymous_limit": settings.ANONYMOUS_REQUESTS_PER_MINUTE,
    }
    return render(request, "docs/show_guide.html", context)


@require_safe
@for_account(Act.LOOK)
def show_overview(request: AccountRequest) -> HttpResponse:
    """What there is to do first: the steps that are done give way to those that are open."""
    context = {
        "has_second_factor": has_second_factor(request.user),
        "members": request.account.memberships.count(),
        "may_invite": request.membership.may(Act.MANAGE_TEAM),
        "may_create_keys": request.membership.may(Act.MANAGE_KEYS),
        "has_key": request.account.api_keys.active().exists(),
    }
    return render(request, "validation/show_overview.html", context)
