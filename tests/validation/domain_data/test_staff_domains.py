"""Staff list domains in the admin, and every worker knows within seconds."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from accounts.engine import engine
from accounts.models import AuditEntry, User
from tests.conftest import make_user, signed_in
from validation.domain_data import staff_domains
from validation.engine.domain_data import StaffDomains
from validation.models import ListedDomain

pytestmark = pytest.mark.django_db

ADD = "/admin/validation/listeddomain/add/"


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    staff_domains.forget()
    yield
    staff_domains.forget()


@pytest.fixture
def browser(staff: User) -> Client:
    return signed_in(staff)


def add(browser: Client, domain: str, kind: str = "deny", reason: str = "Seen in a wave") -> str:
    answer = browser.post(ADD, {"domain": domain, "kind": kind, "reason": reason})
    return "" if answer.status_code == 302 else answer.content.decode()


def test_a_denied_domain_is_disposable_with_all_below_it(browser: Client) -> None:
    assert add(browser, "burner.com") == ""
    said = engine().check_without_dns("jane@a.burner.com")
    assert said.checks["disposable"] is True
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.target) == (
        "domain.listed",
        "burner.com: disposable, Seen in a wave",
    )


def test_an_allowed_domain_is_not_whatever_the_list_says(browser: Client) -> None:
    assert engine().check_without_dns("jane@mailinator.com").checks["disposable"] is True
    assert add(browser, "mailinator.com", "allow") == ""
    staff_domains.forget()
    assert engine().check_without_dns("jane@mailinator.com").checks["disposable"] is False


def test_it_holds_until_it_is_taken_off_the_list(browser: Client) -> None:
    add(browser, "burner.com")
    listed = ListedDomain.objects.get()
    browser.post(f"/admin/validation/listeddomain/{listed.pk}/delete/", {"post": "yes"})
    assert staff_domains.current() == StaffDomains()
    assert AuditEntry.objects.filter(action="domain.unlisted", target="burner.com").exists()


def test_the_worker_that_took_it_knows_at_once(
    browser: Client, django_capture_on_commit_callbacks: Any
) -> None:
    def sent(path: str, **data: str) -> bool | None:
        with django_capture_on_commit_callbacks(execute=True):
            assert browser.post(path, data).status_code == 302
        return engine().check_without_dns("jane@burner.com").checks["disposable"]

    burner = {"domain": "burner.com", "reason": "Seen in a wave"}
    assert engine().check_without_dns("jane@burner.com").checks["disposable"] is False
    assert sent(ADD, **burner, kind="deny") is True
    page = f"/admin/validation/listeddomain/{ListedDomain.objects.get().pk}"
    assert sent(f"{page}/change/", **burner, kind="allow") is False
    assert sent(f"{page}/change/", **burner, kind="deny") is True
    assert sent(f"{page}/delete/", post="yes") is False


def test_several_are_taken_off_at_once(browser: Client) -> None:
    for domain in ("one.com", "two.com"):
        add(browser, domain)
    data = {
        "action": "delete_selected",
        "_selected_action": list(ListedDomain.objects.values_list("pk", flat=True)),
        "post": "yes",
    }
    browser.post("/admin/validation/listeddomain/", data)
    assert not ListedDomain.objects.exists()
    assert AuditEntry.objects.filter(action="domain.unlisted").count() == 2


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("Burner.COM", "burner.com"),
        (" burner.com. ", "burner.com"),
        ("jane@burner.com", "burner.com"),
        ("bücher.de", "xn--bcher-kva.de"),
    ],
)
def test_a_domain_is_kept_as_the_engine_compares_it(browser: Client, typed: str, kept: str) -> None:
    assert add(browser, typed) == ""
    assert ListedDomain.objects.get().domain == kept


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("com", "not one owner"),
        ("co.uk", "not one owner"),
        ("not a domain", "no domain name"),
        ("a..b", "no domain name"),
        ("gmail.com", "never disposable"),
        ("proton.me", "never disposable"),
    ],
)
def test_what_would_hit_millions_is_refused(browser: Client, typed: str, told: str) -> None:
    assert told in add(browser, typed)
    assert not ListedDomain.objects.exists()


def test_an_unchanged_list_is_the_same_object() -> None:
    first = staff_domains.current()
    staff_domains.forget()
    assert staff_domains.current() is first


def test_support_may_list_domains() -> None:
    helper = make_user("helper@service.example", is_staff=True)
    helper.groups.add(Group.objects.get(name="Support"))
    assert add(signed_in(helper), "burner.com") == ""


def test_finance_may_not() -> None:
    helper = make_user("books@service.example", is_staff=True)
    helper.groups.add(Group.objects.get(name="Finance"))
    assert signed_in(helper).get(ADD).status_code == 403
