"""Show each component's state: now as measured, and for 90 days by staff's incidents."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Protocol

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.forms import model_to_dict
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_safe

from accounts.webhooks import metrics as webhooks
from lists.models import AddressList
from reference.models import Impact, Incident
from runtime.dates import midnight
from runtime.hooks import Hook
from runtime.http.public_pages import public_page
from runtime.json_text import render_json
from validation.probes import metrics as probes

# In seconds, as in deploy/prometheus/alerts.yaml.
DELIVERIES_LATE_AFTER, CHECKS_LATE_AFTER = 600, 900
DAY, DAYS = timedelta(days=1), 90


class CheckHealth(Protocol):
    def __call__(self) -> dict[str, str]:
        """Return `ok`, `degraded` or `unavailable` for each check, and the worst as `status`."""


service_health = Hook[CheckHealth]("SERVICE_HEALTH")


@public_page
def show_status(request: HttpRequest, *, is_json: bool = False) -> HttpResponse:
    measured = measure_components()
    # Without the database, only the outage is known.
    incidents = [] if Impact.OUTAGE in measured.values() else find_incidents()
    components = describe_components(measured, incidents)
    state = find_worst(component["state"] for component in components)
    if not is_json:
        context = {"state": state, "components": components, "incidents": incidents}
        return render(request, "reference/show_status.html", context)
    documents = [
        {
            **model_to_dict(incident, ("title", "impact", "started_at", "ended_at")),
            "components": list(incident.components),
            "updates": [
                {"at": update.at, "state": update.state, "text": update.text}
                for update in incident.updates.all()
            ],
        }
        for incident in incidents
    ]
    document = {"state": state, "components": components, "incidents": documents}
    return HttpResponse(render_json(document), content_type="application/json")


@login_not_required
@require_safe
def show_status_feed(request: HttpRequest) -> HttpResponse:
    page_url = settings.BASE_URL + reverse("reference:show-status")
    title = f"{settings.PRODUCT_NAME} status"
    feed = Atom1Feed(title, page_url, "Incidents and planned maintenance.")
    for incident in find_incidents():
        url = f"{page_url}#incident-{incident.pk}"
        times = [incident.started_at, *(update.at for update in incident.updates.all())]
        text = render_to_string("reference/fragments/updates.html", {"incident": incident})
        feed.add_item(
            incident.title, url, text, unique_id=url, pubdate=times[0], updateddate=max(times)
        )
    return HttpResponse(feed.writeString("utf-8"), content_type=feed.content_type)


def measure_components() -> dict[str, str]:
    (check_health,) = service_health
    health = check_health()
    if_on = ["mailbox_checks"] if settings.PROBE_MAILBOX_CHECKS else []
    components = ["api", "lists", "dashboard", "webhooks", *if_on]
    if health["status"] == "unavailable":
        return dict.fromkeys(components, Impact.OUTAGE)
    is_late = {
        "api": health["status"] != "ok",
        "lists": health["resolver"] != "ok" or AddressList.objects.stuck().exists(),
        "webhooks": webhooks.overdue_seconds() > DELIVERIES_LATE_AFTER,
        "mailbox_checks": probes.overdue_seconds() > CHECKS_LATE_AFTER,
    }
    states = (Impact.OPERATIONAL, Impact.DEGRADED)
    return {code: states[is_late.get(code, False)] for code in components}


def find_incidents() -> list[Incident]:
    """Return the current incidents, then the planned ones, then the past ones."""
    now = timezone.now()
    since = midnight(now.date()) - (DAYS - 1) * DAY
    incidents = Incident.objects.exclude(ended_at__lt=since).prefetch_related("updates")
    return sorted(incidents, key=lambda incident: (incident.is_over, incident.started_at > now))


def describe_components(
    measured: dict[str, str], incidents: list[Incident]
) -> list[dict[str, Any]]:
    now, until = timezone.now(), timezone.now() + timedelta.resolution
    names = {field.name: field.verbose_name for field in Incident._meta.fields}
    days = [midnight(now.date()) - ago * DAY for ago in reversed(range(DAYS))]

    def impact(component: str, since: datetime, until: datetime) -> str:
        return find_worst(
            incident.impact
            for incident in incidents
            if getattr(incident, component)
            and incident.started_at < until
            and (incident.ended_at is None or incident.ended_at > since)
        )

    return [
        {
            "code": code,
            "name": names[code],
            "state": find_worst([state, impact(code, now, until)]),
            "days": {f"{day:%Y-%m-%d}": impact(code, day, min(day + DAY, until)) for day in days},
        }
        for code, state in measured.items()
    ]


def find_worst(impacts: Iterable[str]) -> str:
    return max(impacts, key=Impact.values.index, default=Impact.OPERATIONAL)
