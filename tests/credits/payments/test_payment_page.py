"""Orders lead to the payment page in one step, and come back to where they began."""

from http import HTTPStatus

import pytest

from accounts.models import Account, User
from credits.models import Pack
from tests.conftest import signed_in
from tests.credits.payments.stripe_helpers import place_order
from tests.servers.stripe import FakeStripe

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

FORM_ACTION = "form-action 'self'"


def form_actions(page: str, owner: User) -> str:
    policy = signed_in(owner).get(page).headers["Content-Security-Policy"]
    return next(part for part in policy.split("; ") if part.startswith("form-action"))


def test_only_pages_whose_form_leads_to_the_provider_may_send_it_there(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    order = place_order(account, pack)
    for page in (
        f"/credits/packs/{pack.public_id}/",
        "/credits/plans/starter/",
        f"/credits/orders/{order.public_id}/",
        "/credits/card/",
    ):
        assert form_actions(page, owner) == f"{FORM_ACTION} {stripe.url}", page
    for page in ("/credits/", "/credits/packs/", "/credits/plans/", "/validation/"):
        assert form_actions(page, owner) == FORM_ACTION, page


def test_without_a_provider_no_page_may_send_forms_elsewhere(owner: User, pack: Pack) -> None:
    assert form_actions(f"/credits/packs/{pack.public_id}/", owner) == FORM_ACTION


def test_order_that_waits_for_payment_leads_to_its_payment_page(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    order = place_order(account, pack)
    response = signed_in(owner).post(f"/credits/orders/{order.public_id}/pay/")
    assert response.headers["Location"] == order.provider_url


def test_paid_order_leads_to_its_own_page(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    order = place_order(account, pack)
    account.orders.update(state="paid", paid_at=order.placed_at)
    response = signed_in(owner).post(f"/credits/orders/{order.public_id}/pay/")
    assert response.headers["Location"] == f"/credits/orders/{order.public_id}/"


def test_provider_that_is_down_leaves_the_order_to_be_paid_later(
    stripe: FakeStripe, account: Account, owner: User, pack: Pack
) -> None:
    order = place_order(account, pack)
    stripe.is_down = True
    page = signed_in(owner).post(f"/credits/orders/{order.public_id}/pay/", follow=True)
    assert page.status_code == HTTPStatus.OK
    assert 'role="alert"' in page.content.decode()
    assert "Pay $5.00 by card" in " ".join(page.content.decode().split())


@pytest.mark.parametrize(
    ("needed", "found"), [("1", 1_000), ("1001", 10_000), ("9" * 30, 1_000_000), ("x", None)]
)
def test_needed_credits_lead_to_the_smallest_pack_that_covers_them(
    owner: User, needed: str, found: int | None
) -> None:
    path = f"/credits/packs/?credits={needed}&next=/lists/"
    location = signed_in(owner).get(path).headers.get("Location")
    pack = Pack.objects.filter(credits=found or 0).first()
    assert location == (f"/credits/packs/{pack.public_id}/?next=%2Flists%2F" if pack else None)
