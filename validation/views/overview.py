from datetime import UTC

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from accounts.authentication.second_factor.factors import has_second_factor
from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from credits.models import Pack, Plan, Subscription
from credits.models.usage import Source
from credits.plans.recommendation import recommend_plan
from credits.plans.sign_up_credits import domain_without_credits
from credits.plans.upcoming import next_grant
from credits.presenters.balance import forecast, low_balance
from credits.presenters.plans import describe_recommendation
from validation.presenters.charts import build_usage_chart, interval_urls
from validation.presenters.requests import no_latest_requests
from validation.presenters.stats import overview_stats
from validation.presenters.usage import name_source, no_usage
from validation.reports import overview
from validation.request_log.search import latest_entries


@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_overview(request: AccountRequest) -> HttpResponse:
    account = request.account
    if not overview.has_usage(account):
        return _show_first_steps(request)
    now = timezone.now()
    source = Source(chosen) if (chosen := request.GET.get("source")) in Source.values else None
    nouns = name_source(source)
    summary = overview.build_overview(account, now, [source] if source else [*Source])
    wallet, subscription = account.wallet, Subscription.objects.with_plans().get(account=account)
    plans, packs = Plan.objects.offered(), Pack.objects.offered()
    used, plan = summary.credits_used, subscription.next_plan
    advice = recommend_plan(subscription, used, wallet.balance, plans, packs)
    context = {
        "overview": summary,
        "stats": overview_stats(summary, wallet, nouns),
        "source": source,
        "forecast": forecast(wallet, next_grant(subscription)[1]),
        "advice": advice and describe_recommendation(advice, plan, used),
        "low_balance": low_balance(wallet, wallet.days_left),
        "usage": build_usage_chart(
            summary.days,
            summary.previous,
            summary.date_range,
            "Last 30 days",
            zone=UTC,
            now=now,
            urls=interval_urls(account, summary.date_range, {"source": source} if source else {}),
            nouns=nouns,
        ),
        "no_usage": no_usage(nouns),
        "no_requests": no_latest_requests(account.log_retention_days),
        "needs_second_factor": not has_second_factor(request.user),
        "needs_team": account.memberships.count() == 1
        and request.membership.has_permission(TeamPermission.MANAGE_TEAM),
    }
    return render(request, "validation/show_overview.html", context)


@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_arrival(request: AccountRequest, key_id: str = "") -> HttpResponse:
    key = get_object_or_404(request.account.api_keys, public_id=key_id) if key_id else None
    arrival = overview.find_arrival(request.account, key, timezone.now())
    if arrival is None:
        return HttpResponse(status=204)
    # The page of a new key already has a primary button.
    context = {"arrival": arrival, "is_overview": key is None}
    return render(request, "validation/fragments/arrival.html", context)


def _show_first_steps(request: AccountRequest) -> HttpResponse:
    account = request.account
    key = account.api_keys.active().first()
    context = {
        "key": key,
        "has_sent": overview.has_sent_requests(account),
        "is_complete": key is not None and overview.has_results(account),
        "arrival": overview.find_arrival(account, None, timezone.now()),
        "is_overview": True,
        "latest": latest_entries(account, overview.LATEST_COUNT),
        "may_create_keys": request.membership.has_permission(TeamPermission.MANAGE_KEYS),
        "domain_without_credits": domain_without_credits(account),
    }
    return render(request, "validation/show_first_steps.html", context)
