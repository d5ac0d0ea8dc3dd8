import re

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client

from accounts.models import Account, User
from accounts.roles import Role
from tests.conftest import make_member, signed_in

pytestmark = pytest.mark.django_db


def test_the_landing_page_shows_a_request_its_answer_and_the_four_verdicts(client: Client) -> None:
    page = client.get("/").content.decode()
    assert "POST /v1/validate" in page
    assert "Authorization: Bearer $SVC_API_KEY" in page
    for verdict in ("deliverable", "risky", "undeliverable", "unknown"):
        assert re.search(rf"</svg> {verdict}</span>", page)


def test_no_page_holds_a_literal_key(client: Client, owner: User) -> None:
    for page in (client.get("/"), signed_in(owner).get("/validation/")):
        assert b"svc_live_" not in page.content


def test_the_landing_page_leads_who_is_signed_in_to_the_dashboard(owner: User) -> None:
    page = signed_in(owner).get("/").content
    assert b'href="/validation/"' in page
    assert b"Create an account" not in page


def test_steps_that_are_done_give_way_to_those_that_are_open(account: Account, owner: User) -> None:
    client = signed_in(owner)
    assert client.get("/validation/").content.count(b'<li class="done">') == 1
    Authenticator.objects.create(user=owner, type=Authenticator.Type.TOTP, data={"secret": "x"})
    make_member(account, Role.VIEWER)
    assert client.get("/validation/").content.count(b'<li class="done">') == 3


def test_who_may_not_invite_is_not_asked_to(account: Account) -> None:
    page = signed_in(make_member(account, Role.VIEWER)).get("/validation/").content
    assert b"Invite your colleagues" not in page


def test_the_navigation_marks_where_one_is(owner: User) -> None:
    page = signed_in(owner).get("/accounts/team/").content.decode()
    marked = set(re.findall(r'<a href="([^"]+)" aria-current="page">', page))
    assert marked == {"/accounts/team/"}
