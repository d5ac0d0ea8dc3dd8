from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.authentication.second_factor.factors import has_second_factor
from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from credits.plans.sign_up_credits import domain_without_credits
from credits.wallet.statement import days_left
from validation.reports import overview
from validation.reports.charts import draw


@require_safe
@require_permission(TeamPermission.LOOK)
def show_overview(request: AccountRequest) -> HttpResponse:
    if not overview.has_begun(request.account):
        return _show_first_steps(request)
    now = timezone.now()
    seen = overview.overview_of(request.account, now)
    titles = [f"{day.of:%d %b}: {day.requests:,}" for day in seen.days]
    context = {
        "overview": seen,
        "chart": draw([day.calls for day in seen.days], titles),
        "days_left": days_left(request.account, request.account.wallet.balance),
        **_what_is_left_to_do(request),
    }
    return render(request, "validation/show_overview.html", context)


@require_safe
@require_permission(TeamPermission.LOOK)
def show_arrival(request: AccountRequest, key_id: str = "") -> HttpResponse:
    """A piece of a page, which asks for it until a request has come: with one key, or with any."""
    key = get_object_or_404(request.account.api_keys, public_id=key_id) if key_id else None
    arrival = overview.arrival_of(request.account, key, timezone.now())
    if arrival is None:
        return HttpResponse(status=204)
    return render(request, "validation/arrival.html", {"arrival": arrival, "key": key})


def _show_first_steps(request: AccountRequest) -> HttpResponse:
    context = {
        "key": request.account.api_keys.active().first(),
        "may_create_keys": request.membership.may(TeamPermission.MANAGE_KEYS),
        "domain_without_credits": domain_without_credits(request.account),
    }
    return render(request, "validation/show_first_steps.html", context)


def _what_is_left_to_do(request: AccountRequest) -> dict[str, bool]:
    alone = request.account.memberships.count() == 1
    return {
        "lacks_second_factor": not has_second_factor(request.user),
        "is_alone": alone and request.membership.may(TeamPermission.MANAGE_TEAM),
    }
