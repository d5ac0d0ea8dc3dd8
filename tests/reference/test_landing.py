"""The landing page: what it shows, and that it is the same for every visitor."""

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from accounts.models import User
from credits.models import Pack, Plan
from tests.conftest import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def show_landing(browser: Client | None = None) -> str:
    return (browser or Client()).get("/").content.decode()


def show_text(browser: Client | None = None) -> str:
    return " ".join(unescape(strip_tags(show_landing(browser))).split())


def test_landing_page_shows_a_request_and_every_verdict() -> None:
    page, text = show_landing(), show_text()
    assert "from emailvalidation import Client" in text
    assert "Authorization: Bearer $SVC_API_KEY" in text
    assert '"verdict": "risky"' in text
    assert '<span class="nt">"verdict"</span>' in page
    for verdict in ("deliverable", "risky", "undeliverable", "unknown"):
        assert re.search(rf"</svg> {verdict}</span>", page)


def test_landing_page_shows_the_price_of_every_plan_and_pack_per_thousand() -> None:
    Plan.objects.filter(code="growth").update(price_cents=12_300)
    Pack.objects.filter(credits=10_000).update(price_cents=4_560)
    Plan.objects.filter(code="scale").update(is_offered=False)
    Plan.objects.filter(code="free").update(monthly_credits=250)
    text = show_text()
    assert "Get 250 free credits" in text
    for plan in Plan.objects.offered():
        assert plan.name in text
    assert "Growth $123 per month $2.46 per 1,000 credits" in text
    assert "10,000 credits $45.60 paid once $4.56 per 1,000 credits" in text
    assert "Scale" not in text


def test_landing_page_is_the_same_for_every_visitor_and_sets_no_cookie() -> None:
    """The page has no token, so browsers and proxies may cache it."""
    elsewhere = Client(headers={"user-agent": "Another browser"}, REMOTE_ADDR="203.0.113.9")
    first, second = Client().get("/"), elsewhere.get("/")
    assert first.content == second.content
    assert b"csrf" not in first.content.lower()
    for response in (first, second):
        assert not response.cookies
        assert "no-store" not in response.headers.get("Cache-Control", "")


def test_landing_page_is_compressed_and_sent_once_until_it_changes() -> None:
    first = Client(headers={"accept-encoding": "gzip"}).get("/")
    assert first.headers["Content-Encoding"] == "gzip"
    assert len(first.content) < 10_000
    again = Client(headers={"if-none-match": first.headers["ETag"]})
    assert again.get("/").status_code == 304
    Plan.objects.filter(code="starter").update(price_cents=1_600)
    assert again.get("/").status_code == 200


def test_landing_page_of_a_signed_in_user_links_to_the_dashboard_and_is_not_stored(
    owner: User,
) -> None:
    owner.theme = "dark"
    owner.save()
    response = signed_in(owner).get("/")
    page = response.content.decode()
    assert 'href="/validation/"' in page
    assert f'href="{reverse("credits:show-billing")}"' in page
    assert "free credits</a>" not in page
    assert "/accounts/signup/" not in page
    assert "no-store" in response.headers["Cache-Control"]
    assert page.count("images/list-dark") == 1
    assert "images/list-light" not in page


def test_sign_out_leads_to_a_page_that_confirms_it(owner: User) -> None:
    """The landing page shows no messages, so the confirmation appears above the sign-in form."""
    response = signed_in(owner).post("/accounts/logout/", follow=True)
    assert response.redirect_chain == [("/accounts/login/", 302)]
    assert b"signed out" in response.content


def test_form_without_a_script_sends_no_address_in_the_url() -> None:
    """Without JavaScript the form opens its own page: a field without a name isn't sent."""
    form = re.search(r'<form class="check-form.*?</form>', show_landing(), re.DOTALL)
    assert form
    assert 'action="/reference/try/"' in form[0]
    assert "name=" not in form[0]
