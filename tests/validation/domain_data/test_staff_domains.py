"""Staff domains: the admin form and the cache that the engine reads."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from accounts.engine import get_engine
from accounts.models import AuditEntry, User
from tests.accounts.staff.staff_pages import client_in_group
from tests.conftest import signed_in
from validation.domain_data import staff_domains
from validation.models import ListedDomain

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

ADD = "/admin/validation/listeddomain/add/"


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    staff_domains.invalidate()
    yield
    staff_domains.invalidate()


@pytest.fixture
def browser(staff: User) -> Client:
    return signed_in(staff)


def add(browser: Client, domain: str, kind: str = "deny", reason: str = "Seen in a wave") -> str:
    response = browser.post(ADD, {"domain": domain, "kind": kind, "reason": reason})
    return "" if response.status_code == 302 else response.content.decode()


def test_denied_domain_and_its_subdomains_are_disposable(browser: Client) -> None:
    assert add(browser, "burner.com") == ""
    finding = get_engine().check_offline("jane@a.burner.com")
    assert finding.checks["disposable"] is True
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.target) == (
        "domain.listed",
        "burner.com: disposable, Seen in a wave",
    )


def test_worker_that_saves_a_domain_applies_it_immediately(
    browser: Client, django_capture_on_commit_callbacks: Any
) -> None:
    def is_disposable_after(path: str, **data: str) -> bool | None:
        with django_capture_on_commit_callbacks(execute=True):
            assert browser.post(path, data).status_code == 302
        return get_engine().check_offline("jane@burner.com").checks["disposable"]

    burner = {"domain": "burner.com", "reason": "Seen in a wave"}
    assert get_engine().check_offline("jane@burner.com").checks["disposable"] is False
    assert is_disposable_after(ADD, **burner, kind="deny") is True
    page = f"/admin/validation/listeddomain/{ListedDomain.objects.get().pk}"
    assert is_disposable_after(f"{page}/change/", **burner, kind="allow") is False
    assert is_disposable_after(f"{page}/change/", **burner, kind="deny") is True
    assert is_disposable_after(f"{page}/delete/", post="yes") is False


def test_several_domains_can_be_deleted_together(browser: Client) -> None:
    for domain in ("burner-one.com", "burner-two.com"):
        add(browser, domain)
    data = {
        "action": "delete_selected",
        "_selected_action": list(ListedDomain.objects.values_list("pk", flat=True)),
        "post": "yes",
    }
    browser.post("/admin/validation/listeddomain/", data)
    assert not ListedDomain.objects.exists()
    assert AuditEntry.objects.filter(action="domain.unlisted").count() == 2


def test_domain_is_stored_in_the_form_that_the_engine_compares(browser: Client) -> None:
    for typed, stored in {
        "Burner.COM": "burner.com",
        " burner.net. ": "burner.net",
        "jane@burner.org": "burner.org",
        "bücher.de": "xn--bcher-kva.de",
    }.items():
        assert add(browser, typed) == ""
        assert ListedDomain.objects.latest("pk").domain == stored


def test_public_suffixes_and_large_providers_are_refused(browser: Client) -> None:
    for typed, error in {
        "com": "public suffix",
        "co.uk": "public suffix",
        "not a domain": "Enter a valid domain",
        "a..b": "Enter a valid domain",
        "gmail.com": "well-known provider",
        "proton.me": "well-known provider",
    }.items():
        assert error in add(browser, typed), typed
    assert not ListedDomain.objects.exists()


def test_unchanged_staff_domains_are_the_same_object() -> None:
    first = staff_domains.current()
    staff_domains.invalidate()
    assert staff_domains.current() is first


def test_only_support_can_add_domains() -> None:
    assert add(client_in_group("Support"), "burner.com") == ""
    assert client_in_group("Finance").get(ADD).status_code == 403
