"""Settings → Team: an owner requires a second factor, and members keep theirs."""

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.utils import timezone

from accounts.authentication.second_factor.requirement import OWN_FACTOR_FIRST
from accounts.models import Account, AuditEntry, Membership, User
from accounts.presenters.team import factor_setting
from accounts.roles import Role
from runtime.models import Mail
from tests.accounts.test_team import invite
from tests.conftest import make_member, signed_in
from tests.support.second_factors import add_authenticator_app, give_passkey

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

CHANGE = "/accounts/team/second-factor/"
SET_UP = "/accounts/security/required/"
DEACTIVATE = "/accounts/2fa/totp/deactivate/"
ACTIONS = ["team.second_factor_required", "team.second_factor_optional"]


def change(browser: Client, *, required: str) -> str:
    page = browser.post(CHANGE, {"required": required}, follow=True)
    return page.content.decode().replace("&#x27;", "'")


def is_required(account: Account) -> bool:
    account.refresh_from_db()
    return account.requires_second_factor


def recorded() -> list[str]:
    entries = AuditEntry.objects.filter(action__in=ACTIONS).order_by("pk")
    return list(entries.values_list("action", flat=True))


def require(account: Account) -> None:
    Account.objects.filter(pk=account.pk).update(second_factor_required_at=timezone.now())


class TestSetting:
    def test_owner_with_a_factor_turns_it_on_and_off(self, account: Account, owner: User) -> None:
        add_authenticator_app(owner)
        browser = signed_in(owner)
        for _ in range(2):
            assert "The Shop now requires a second factor" in change(browser, required="yes")
        assert is_required(account)
        assert "A second factor is now optional" in change(browser, required="no")
        assert not is_required(account)
        assert recorded() == ACTIONS

    def test_owner_without_a_factor_sees_why_it_is_disabled(
        self, account: Account, browser: Client
    ) -> None:
        assert b"set up your own first" in browser.get("/accounts/team/").content
        assert OWN_FACTOR_FIRST in change(browser, required="yes")
        assert not is_required(account)

    @pytest.mark.parametrize("role", set(Role) - {Role.OWNER})
    def test_other_roles_can_not_change_it(self, account: Account, role: Role) -> None:
        user = make_member(account, role)
        add_authenticator_app(user)
        browser = signed_in(user)
        assert browser.post(CHANGE, {"required": "yes"}).status_code == 403
        assert not is_required(account)
        page = browser.get("/accounts/team/").content
        assert b"Require a second factor" not in page
        assert b"No second factor" not in page

    def test_recent_proof_is_required(self, account: Account, browser: Client, owner: User) -> None:
        add_authenticator_app(owner)
        response = browser.post(CHANGE, {"required": "yes"})
        assert response.headers["Location"].startswith("/accounts/2fa/reauthenticate/")
        assert not is_required(account)

    def test_members_get_an_email(self, account: Account, owner: User) -> None:
        add_authenticator_app(owner)
        add_authenticator_app(make_member(account, Role.BILLING))
        make_member(account, Role.VIEWER)
        change(signed_in(owner), required="yes")
        texts = dict(Mail.objects.values_list("to", "text"))
        assert set(texts) == {"billing@team.example", "viewer@team.example"}
        assert "You already have one" in texts["billing@team.example"]
        assert "You don't have one yet." in texts["viewer@team.example"]
        assert "/accounts/security/required/" in texts["viewer@team.example"]
        assert {mail.subject for mail in Mail.objects.all()} == {
            "The Shop now requires a second factor"
        }
        Mail.objects.all().delete()
        change(signed_in(owner), required="no")
        assert not Mail.objects.exists()

    def test_invited_user_reads_it_before_joining(
        self, account: Account, owner: User, stranger: User
    ) -> None:
        require(account)
        path, browser = invite(account, owner, stranger.email), signed_in(stranger)
        assert b"set it up next." in browser.get(path).content
        assert browser.post(path, follow=True).redirect_chain[-1] == (SET_UP, 302)
        add_authenticator_app(stranger)
        path = invite(account, owner, "other@shop.example")
        assert b"You already have one." in browser.get(path).content


class TestLastFactor:
    def test_app_or_passkey_that_an_account_requires_is_kept(
        self, account: Account, owner: User
    ) -> None:
        require(account)
        app = add_authenticator_app(owner)
        browser = signed_in(owner)
        for method in ("GET", "POST"):
            response = browser.generic(method, DEACTIVATE)
            assert response.headers["Location"] == "/accounts/security/"
            page = browser.get("/accounts/security/").content.decode()
            assert "The Shop requires a second factor, and this is your only one." in page
        assert Authenticator.objects.filter(type=Authenticator.Type.TOTP).exists()
        passkey = give_passkey(owner)
        app.delete()
        response = browser.post(f"/accounts/2fa/webauthn/keys/{passkey.pk}/remove/")
        assert response.headers["Location"] == "/accounts/security/"
        assert Authenticator.objects.filter(pk=passkey.pk).exists()

    def test_one_of_two_factors_can_be_removed(self, account: Account, owner: User) -> None:
        require(account)
        passkey = give_passkey(owner)
        add_authenticator_app(owner)
        browser = signed_in(owner)
        browser.post(DEACTIVATE)
        browser.post(f"/accounts/2fa/webauthn/keys/{passkey.pk}/remove/")
        kinds = Authenticator.objects.exclude(type=Authenticator.Type.RECOVERY_CODES)
        assert [kind.type for kind in kinds] == [Authenticator.Type.WEBAUTHN]

    def test_every_open_account_that_requires_it_is_named(
        self, account: Account, owner: User, stranger: User
    ) -> None:
        theirs = stranger.memberships.get().account
        Membership.objects.create(account=theirs, user=owner, role=Role.VIEWER)
        Account.objects.update(second_factor_required_at=timezone.now())
        add_authenticator_app(owner)
        page = signed_in(owner).post(DEACTIVATE, follow=True).content.decode()
        assert "The Shop and Elsewhere require a second factor" in page
        Account.objects.filter(pk=account.pk).update(second_factor_required_at=None)
        Account.objects.filter(pk=theirs.pk).update(closed_at=theirs.created_at)
        signed_in(owner).post(DEACTIVATE)
        assert not Authenticator.objects.filter(type=Authenticator.Type.TOTP).exists()


def test_owner_can_require_a_second_factor_once_they_have_one() -> None:
    without = factor_setting(
        is_required=False, members=1, without_factor=1, viewer_has_factor=False
    )
    assert (without.action, without.value) == ("Require a second factor", "yes")
    assert without.refusal == "To require it of others, set up your own first."
    having = factor_setting(is_required=False, members=1, without_factor=0, viewer_has_factor=True)
    assert (having.badge.text, having.refusal) == ("Off", "")
    required = factor_setting(is_required=True, members=1, without_factor=0, viewer_has_factor=True)
    assert (required.badge.text, required.action) == ("On", "Make it optional")
    assert required.value == "no"


@pytest.mark.parametrize(
    ("members", "without_factor", "text"),
    [
        (1, 1, "You don't have one yet."),
        (1, 0, "You have one."),
        (5, 0, "All 5 members have one."),
        (5, 1, "1 of 5 members doesn't have one yet."),
        (5, 2, "2 of 5 members don't have one yet."),
    ],
)
def test_owner_reads_how_many_members_have_no_second_factor(
    members: int, without_factor: int, text: str
) -> None:
    counts = {"members": members, "without_factor": without_factor}
    shown = factor_setting(is_required=True, viewer_has_factor=without_factor < members, **counts)
    assert shown.members == text
