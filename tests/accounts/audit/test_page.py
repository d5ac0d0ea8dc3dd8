"""Settings → Audit log: the page, its filters, and the export."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.audit import queries, record
from accounts.audit.models import UNKNOWN_ACTOR
from accounts.models import Account, AuditEntry, User
from accounts.roles import Role
from accounts.services import suspend_account
from runtime.database import pagination
from tests.conftest import make_member
from tests.support.request_address import request_from

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGE = "/accounts/audit/"
EXPORT = f"{PAGE}export/"


def add_entry(account: Account, actor: User | None, action: str, **fields: Any) -> AuditEntry:
    name = actor.email if actor else "system"
    values = {"actor_name": name, "ip": "192.0.2.1", **fields}
    return AuditEntry.objects.create(account=account, actor=actor, action=action, **values)


def page(browser: Client, **query: Any) -> str:
    response = browser.get(PAGE, query)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def rows(browser: Client, **query: Any) -> int:
    return page(browser, **query).count('<td data-label="When">')


def exported(browser: Client, **form: Any) -> list[list[str]]:
    response = browser.post(EXPORT, form)
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(io.StringIO(response.getvalue().decode("utf-8-sig"))))


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("Newsletter (lst_{id})", "Newsletter"),
        ("ord_{id}: 10,000 credits", "10,000 credits"),
        ("j***@shop.example (fbk_{id}): deliverable", "j***@shop.example: deliverable"),
        ("https://shop.example/hook: evt_{id}", "https://shop.example/hook"),
        ("fbk_{id}", ""),
        ("INV-000123: Growth plan (2026)", "INV-000123: Growth plan (2026)"),
    ],
)
def test_entry_names_its_target_without_the_id(target: str, name: str) -> None:
    assert AuditEntry(target=target.format(id="5Hc9TfWnQ3sEvXy7BgMk")).target_name == name


def test_entry_shows_time_actor_action_target_and_address(
    browser: Client, account: Account, owner: User
) -> None:
    add_entry(account, owner, "key.created", target="Server (svc_live_Ab3d…9xYz)", ip="203.0.113.9")
    shown = page(browser, what="key.created")
    for text in ("Olive Owner", owner.email, "Created an API key", "Server (svc", "203.0.113.9"):
        assert text in shown
    assert "<time datetime=" in shown
    assert shown.count("Times are in UTC") == 1
    assert "<strong>key.created" not in shown


def test_staff_are_shown_as_our_support_without_an_address(
    browser: Client, account: Account, owner: User, staff: User
) -> None:
    with request_from("198.51.100.1"):
        suspend_account(account=account, actor=staff)
    staff.delete()
    entry = account.audit_entries.get(action="account.suspended")
    assert (entry.actor_name, entry.ip) == ("staff@service.example", "198.51.100.1")
    export = json.loads(browser.post("/accounts/account/export/").content)["audit_log"]
    for shown in (page(browser), str(exported(browser)), str(export)):
        assert "Our support team" in shown
        assert "staff@service.example" not in shown
        assert "198.51.100.1" not in shown
    # Staff who are members are shown by address.
    owner.is_staff = True
    owner.save()
    assert record(account, owner, "account.renamed").who == owner.email


@pytest.mark.both
def test_who_filter_selects_by_actor(browser: Client, account: Account, staff: User) -> None:
    colleague = make_member(account, Role.DEVELOPER)
    former = make_member(account, Role.VIEWER, "former@team.example")
    for actor in (colleague, former, staff, None):
        record(account, actor, "key.changed", f"by {actor}")
    record(account, None, "user.sign_in_failed", "by unknown", anonymous_name=UNKNOWN_ACTOR)
    former.memberships.all().delete()
    member = colleague.memberships.get().public_id
    for who, target in {
        member: f"by {colleague}",
        "left": f"by {former}",
        "support": f"by {staff}",
        "automatic": "by None",
        "unknown": "by unknown",
    }.items():
        shown = page(browser, who=who)
        assert (rows(browser, who=who), target in shown) == (1, True), who


@pytest.mark.both
def test_filters_select_by_group_or_action_and_by_whole_days(
    browser: Client, account: Account, owner: User
) -> None:
    for action in ("key.created", "key.revoked", "member.invited", "order.placed"):
        add_entry(account, owner, action)
    counts = {what: rows(browser, what=what) for what in ("keys", "key.revoked", "team", "billing")}
    assert counts == {"keys": 2, "key.revoked": 1, "team": 1, "billing": 1}
    for day, hour in ((18, 23), (19, 0), (20, 23), (21, 0)):
        add_entry(account, owner, "key.changed", at=datetime(2026, 1, day, hour, tzinfo=UTC))
    since, until = {"since": "2026-01-19"}, {"until": "2026-01-20"}
    counted = [rows(browser, what="key.changed", **days) for days in (since, until, since | until)]
    assert counted == [3, 3, 2]


def test_invalid_filter_shows_an_error(browser: Client) -> None:
    for query in (
        *({"who": name} for name in ("mem_of_another_account00", "a\0b")),
        *({"what": name} for name in ("nonsense", "service", "plan.changed_by_staff")),
        *({"since": "0001-01-01"}, {"until": "tomorrow"}),
        {"since": "2026-02-02", "until": "2026-02-01"},
    ):
        assert 'class="errorlist' in page(browser, **query), query
        response = browser.post(EXPORT, query)
        assert response.headers["Location"].startswith(f"{PAGE}?"), query


@pytest.mark.both
def test_pages_have_no_gaps_or_duplicates(browser: Client, account: Account, owner: User) -> None:
    moment = timezone.now() - timedelta(days=1)
    # Many entries share a timestamp, like those of one transaction.
    AuditEntry.objects.bulk_create(
        AuditEntry(
            account=account,
            action="key.changed",
            target=f"-{number}-",
            at=moment - timedelta(minutes=number // 70),
        )
        for number in range(120)
    )
    seen: list[str] = []
    path = f"{PAGE}?what=keys"
    while path:
        shown = browser.get(path).content.decode()
        seen += [part.partition("-<")[0] for part in shown.split('">-')[1:]]
        _, separator, rest = shown.partition("before=")
        path = f"{PAGE}?what=keys&before={rest.partition(chr(34))[0]}" if separator else ""
        assert len(seen) <= 120
    assert sorted(seen, key=int) == [f"{number}" for number in range(120)]


@pytest.mark.both
def test_page_shows_where_the_scan_limit_stopped(
    browser: Client, account: Account, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "SCAN_LIMIT", 5)
    add_entry(account, owner, "key.created", at=timezone.now() - timedelta(days=9))
    for number in range(10):
        add_entry(account, owner, "user.renamed", at=timezone.now() - timedelta(minutes=number))
    shown = page(browser, what="keys")
    assert "No matching entries so far." in shown
    assert "Search further back" in shown
    cursor = shown.partition("before=")[2].partition('"')[0]
    further = page(browser, what="keys", before=cursor)
    assert "No matching entries so far." in further
    cursor = further.partition("before=")[2].partition('"')[0]
    assert "<strong>Created an API key" in page(browser, what="keys", before=cursor)
    # Some were found.
    assert "Searched back to" in page(browser, what="user.renamed")


def test_export_contains_the_filtered_entries_and_is_recorded(
    browser: Client, account: Account, owner: User
) -> None:
    add_entry(account, owner, "key.created", target="Server")
    add_entry(account, owner, "member.invited", target="jane@shop.example as viewer")
    head, *lines = exported(browser, what="keys")
    assert head == ["time (UTC)", "who", "what", "about", "IP address", "action"]
    ((time, *line),) = lines
    assert datetime.fromisoformat(time)
    assert line == [owner.email, "Created an API key", "Server", "192.0.2.1", "key.created"]
    entry = account.audit_entries.get(action="audit.exported")
    assert (entry.actor, entry.target, entry.ip) == (owner, "What: API keys", "127.0.0.1")
    exported(browser)
    assert account.audit_entries.filter(target="Everything").count() == 1


def test_formulas_in_the_export_are_escaped(browser: Client, account: Account, owner: User) -> None:
    starts = ["=", "+", "-", "@", "\t", "\r", "＝", "＋", " =", "\u200b="]
    for start in starts:
        add_entry(account, owner, "key.created", target=f"{start}1+A1")
    cells = {row[3] for row in exported(browser, what="keys")[1:]}
    assert cells == {f"'{start}1+A1" for start in starts}


@pytest.mark.both
def test_export_reads_entries_in_batches(
    browser: Client,
    account: Account,
    owner: User,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    monkeypatch.setattr(pagination, "BATCH_SIZE", 10)
    moment = timezone.now() - timedelta(days=1)
    for number in range(35):
        at = moment - timedelta(minutes=number // 20)
        add_entry(account, owner, "key.changed", target=f"{number}", at=at)
    with django_assert_max_num_queries(20):
        lines = exported(browser, what="keys")[1:]
    assert sorted(int(line[3]) for line in lines) == list(range(35))
