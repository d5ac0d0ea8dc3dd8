from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.authentication.second_factor.factors import has_second_factor
from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from credits.plans.sign_up_credits import domain_without_credits
from credits.presenters.balance import low_balance
from validation.presenters.first_steps import arrival_notice, create_key_hint, paste_hint
from validation.presenters.requests import no_latest_requests
from validation.presenters.stats import overview_stats
from validation.reports import overview
from validation.reports.charts import draw_chart


@require_safe
@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_overview(request: AccountRequest) -> HttpResponse:
    if not overview.has_received_requests(request.account):
        return _show_first_steps(request)
    now = timezone.now()
    summary = overview.build_overview(request.account, now)
    titles = [f"{day.of:%d %b}: {day.requests:,}" for day in summary.days]
    wallet = request.account.wallet
    lasts = wallet.days_left
    context = {
        "overview": summary,
        "stats": overview_stats(summary, wallet.balance, lasts),
        "low_balance": low_balance(wallet, lasts),
        "chart": draw_chart([day.calls for day in summary.days], titles),
        "no_requests": no_latest_requests(request.account.log_retention_days),
        **_pending_steps(request),
    }
    return render(request, "validation/show_overview.html", context)


@require_safe
@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_arrival(request: AccountRequest, key_id: str = "") -> HttpResponse:
    """Return an HTML fragment once a request has arrived. The page polls it until then."""
    key = get_object_or_404(request.account.api_keys, public_id=key_id) if key_id else None
    arrival = overview.find_arrival(request.account, key, timezone.now())
    if arrival is None:
        return HttpResponse(status=204)
    context = {"notice": arrival_notice(arrival)}
    return render(request, "validation/fragments/arrival.html", context)


def _show_first_steps(request: AccountRequest) -> HttpResponse:
    may_create_keys = request.membership.has_permission(TeamPermission.MANAGE_KEYS)
    context = {
        "key": request.account.api_keys.active().first(),
        "may_create_keys": may_create_keys,
        "create_key_hint": create_key_hint(request.account.name, may_create_keys=may_create_keys),
        "paste_hint": paste_hint(may_create_keys=may_create_keys),
        "domain_without_credits": domain_without_credits(request.account),
    }
    return render(request, "validation/show_first_steps.html", context)


def _pending_steps(request: AccountRequest) -> dict[str, bool]:
    is_only_member = request.account.memberships.count() == 1
    return {
        "needs_second_factor": not has_second_factor(request.user),
        "needs_team": is_only_member
        and request.membership.has_permission(TeamPermission.MANAGE_TEAM),
    }
