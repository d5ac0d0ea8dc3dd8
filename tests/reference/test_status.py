"""The status page: the state now is measured, and the bars are staff's incidents."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
import time_machine
from django.db import IntegrityError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, AuditEntry, User
from accounts.models.webhooks import DeliveryState
from reference.models import Incident
from tests.accounts.staff.staff_pages import count_work, front_page, panel_text
from tests.accounts.webhooks.deliveries import URL, make_delivery
from tests.accounts.webhooks.factory import make_endpoint
from tests.conftest import make_user, signed_in_by_form
from tests.site.actions.staff import INCIDENT

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

NOON = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
CHECKS = ("status", "database", "migrations", "counters", "resolver")
NAMES = ["api", "lists", "dashboard", "webhooks"]


def healthy() -> dict[str, str]:
    return dict.fromkeys(CHECKS, "ok")


def without_resolver() -> dict[str, str]:
    return {**healthy(), "status": "degraded", "resolver": "degraded"}


def without_database() -> dict[str, str]:
    return {**healthy(), "status": "unavailable", "database": "unavailable"}


@pytest.fixture(autouse=True)
def _healthy(settings: Settings) -> Iterator[None]:
    report(settings, healthy)
    with time_machine.travel(NOON, tick=False):
        yield


def report(settings: Settings, check: Any) -> None:
    """Let /readyz's checks report what they report in this case."""
    settings.SERVICE_HEALTH = [f"{__name__}.{check.__name__}"]


def publish(title: str = "API slow", *, api: bool = True, **fields: Any) -> Incident:
    started_at = fields.pop("started_at", NOON - timedelta(hours=1))
    return Incident.objects.create(title=title, api=api, started_at=started_at, **fields)


def read_states() -> dict[str, str]:
    document = Client().get("/status.json").json()
    return {component["code"]: component["state"] for component in document["components"]}


def read_days() -> dict[str, str]:
    """Return the days of the API that aren't operational."""
    days = Client().get("/status.json").json()["components"][0]["days"]
    assert len(days) == 90
    assert list(days)[-1] == "2026-11-27"
    return {day: impact for day, impact in days.items() if impact != "operational"}


def read_page() -> str:
    return " ".join(Client().get("/status/").content.decode().split())


def test_everything_works_without_incidents() -> None:
    assert read_states() == dict.fromkeys(NAMES, "operational")
    assert read_days() == {}
    page = read_page()
    assert "All systems operational" in page
    assert "None in the last 90 days, and none planned." in page


def test_failing_resolver_degrades_what_asks_it(settings: Settings) -> None:
    report(settings, without_resolver)
    degraded = {"api": "degraded", "lists": "degraded"}
    assert read_states() == {**dict.fromkeys(NAMES, "operational"), **degraded}
    assert "Some systems are degraded" in read_page()
    # Not measured over time.
    assert read_days() == {}


def test_outage_of_the_database_is_shown_without_a_query(settings: Settings) -> None:
    publish()
    report(settings, without_database)
    with CaptureQueriesContext(connection) as queries:
        assert set(read_states().values()) == {"outage"}
        page = read_page()
    assert not queries.captured_queries
    assert "The database is unavailable, so incidents can’t be shown right now." in page


def test_late_deliveries_degrade_webhooks(owner: User, account: Account) -> None:
    delivery = make_delivery(make_endpoint(account, URL, created_by=owner), DeliveryState.WAITING)
    assert read_states()["webhooks"] == "operational"
    delivery.next_attempt_at = timezone.now() - timedelta(minutes=11)
    delivery.save()
    assert read_states()["webhooks"] == "degraded"


def test_mailbox_checks_are_a_component_where_they_are_on(settings: Settings) -> None:
    settings.PROBE_MAILBOX_CHECKS = True
    assert read_states()["mailbox_checks"] == "operational"


def test_current_incident_is_the_state_of_its_components_only() -> None:
    publish(impact="outage")
    assert read_states() == {**dict.fromkeys(NAMES, "operational"), "api": "outage"}
    assert read_days() == {"2026-11-27": "outage"}
    assert "Some systems are down" in read_page()


def test_bars_show_each_utc_day_of_an_incident_and_the_worst_of_a_day() -> None:
    hour = timedelta(hours=1)
    midnight = datetime(2026, 11, 20, tzinfo=UTC)
    publish(impact="degraded", started_at=midnight - hour, ended_at=midnight + hour)
    publish(impact="outage", started_at=midnight, ended_at=midnight + hour)
    assert read_days() == {"2026-11-19": "degraded", "2026-11-20": "outage"}
    assert read_states()["api"] == "operational"


def test_incident_longer_than_90_days_ago_is_not_shown() -> None:
    old = NOON - timedelta(days=90)
    publish("An old one", started_at=old - timedelta(days=1), ended_at=old)
    publish("Just recent", started_at=old, ended_at=old + timedelta(days=1))
    page = read_page()
    assert "An old one" not in page
    assert "Just recent" in page
    assert read_days() == {"2026-08-30": "degraded"}


def test_maintenance_changes_the_state_only_when_it_begins() -> None:
    begins, ends = NOON + timedelta(hours=1), NOON + timedelta(hours=2)
    publish("New database", impact="maintenance", started_at=begins, ended_at=ends)
    assert read_states()["api"] == "operational"
    assert read_days() == {}
    assert "New database" in read_page()
    with time_machine.travel(begins, tick=False):
        assert read_states()["api"] == "maintenance"
        assert "Planned maintenance in progress" in read_page()
    with time_machine.travel(ends, tick=False):
        assert read_states()["api"] == "operational"


def test_json_has_incidents_with_their_updates() -> None:
    publish().updates.create(text="We look into it.", at=NOON)
    (incident,) = Client().get("/status.json").json()["incidents"]
    assert incident["title"] == "API slow"
    assert incident["components"] == ["api"]
    assert incident["started_at"] == "2026-11-27T11:00:00.000Z"
    assert incident["ended_at"] is None
    assert incident["updates"] == [
        {"at": "2026-11-27T12:00:00.000Z", "state": "investigating", "text": "We look into it."}
    ]


def test_page_and_json_take_as_many_queries_for_several_incidents() -> None:
    counts = []
    for _ in range(2):
        publish().updates.create(text="We look into it.")
        for path in ("/status/", "/status.json", "/status.atom"):
            with CaptureQueriesContext(connection) as queries:
                Client().get(path)
            counts.append(len(queries))
    assert counts[:3] == counts[3:]
    assert max(counts) <= 5


def test_feed_has_an_entry_per_incident_that_changes_with_each_update() -> None:
    incident = publish()
    incident.updates.create(text="We <b>look</b> into it.", at=NOON)
    response = Client().get("/status.atom")
    assert response.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    atom = "{http://www.w3.org/2005/Atom}"
    (entry,) = ElementTree.fromstring(response.content).iter(f"{atom}entry")  # noqa: S314
    texts = {child.tag.removeprefix(atom): child.text or "" for child in entry}
    assert texts["title"] == "API slow"
    assert texts["id"].endswith(f"/status/#incident-{incident.pk}")
    assert texts["updated"] == "2026-11-27T12:00:00+00:00"
    assert "We &lt;b&gt;look&lt;/b&gt; into it." in texts["summary"]


def test_database_refuses_an_incident_that_ends_before_it_begins() -> None:
    with pytest.raises(IntegrityError):
        publish(ended_at=NOON - timedelta(hours=2))


@pytest.fixture
def staff_browser() -> Client:
    staff = make_user("staff@service.example", is_staff=True, is_superuser=True)
    return signed_in_by_form(staff)


def test_update_that_says_resolved_ends_the_incident(staff_browser: Client) -> None:
    # The form shows an empty row for another update.
    form = {**INCIDENT, "updates-TOTAL_FORMS": "2", "updates-1-state": "investigating"}
    staff_browser.post("/admin/reference/incident/add/", form)
    incident = Incident.objects.get()
    assert incident.ended_at is None
    form = {
        **INCIDENT,
        "updates-TOTAL_FORMS": "2",
        "updates-INITIAL_FORMS": "1",
        "updates-0-id": str(incident.updates.get().pk),
        "updates-0-incident": str(incident.pk),
        "updates-1-incident": str(incident.pk),
        "updates-1-state": "resolved",
        "updates-1-text": "A disk was full.",
    }
    staff_browser.post(f"/admin/reference/incident/{incident.pk}/change/", form)
    incident.refresh_from_db()
    assert incident.ended_at == NOON
    target = AuditEntry.objects.get(action="incident.changed").target
    assert target == "API slow: Resolved: A disk was full."


def test_published_incident_cannot_be_deleted(staff_browser: Client) -> None:
    incident = publish()
    path = f"/admin/reference/incident/{incident.pk}/delete/"
    assert staff_browser.post(path, {"post": "yes"}).status_code == 403
    assert Incident.objects.exists()


def test_staff_see_open_incidents_as_open_work(staff_client: Client) -> None:
    incident = publish()
    incident.updates.create(state="identified", text="A disk is slow.")
    publish("Planned", started_at=NOON + timedelta(hours=1))
    publish("Over", ended_at=NOON)
    page = front_page(staff_client)
    assert count_work(page, "Open incidents") == "1"
    assert "API slow an hour ago now" in panel_text(page, "Open incidents")
    incident.updates.update(state="resolved")
    Incident.objects.filter(pk=incident.pk).update(ended_at=NOON)
    assert count_work(front_page(staff_client), "Open incidents") == "0"
