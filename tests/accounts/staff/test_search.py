"""One box finds a customer by whatever they name; a key that is pasted there never comes back."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, User
from accounts.services import open_account
from accounts.staff import panels
from apikeys import crypto
from apikeys.models import ApiKey
from credits.models import Order, Pack
from credits.orders.lifecycle import Buyer, start_order
from tests.accounts.staff.people import in_group, take_from_group, words
from tests.conftest import make_user, signed_in
from validation.models import LogEntry

pytestmark = pytest.mark.django_db

SEARCH = "/admin/search/"


@pytest.fixture
def boss(staff: User) -> Client:
    return signed_in(staff)


@pytest.fixture
def order(account: Account, owner: User) -> Order:
    pack = Pack.objects.earliest("credits")
    return start_order(account=account, item=pack, buyer=Buyer("The Shop Ltd"), actor=owner)


def find(client: Client, text: str) -> Any:
    return client.post(SEARCH, {"text": text})


def found(client: Client, text: str) -> str:
    """Of a page with several hits, or none."""
    answer = find(client, text)
    assert answer.status_code == 200
    return words(answer.content.decode().partition("<main")[2])


def logged(account: Account, request_id: str) -> LogEntry:
    fields = {"status": 200, "path": "/v1/validate", "duration_ms": 1}
    return LogEntry.objects.create(account=account, request_id=request_id, **fields)


def assert_leads_to(answer: Any, thing: Any) -> None:
    assert answer.status_code == 302
    assert answer["Location"] == panels.admin_url(thing)


@pytest.mark.parametrize("text", ["owner@shop.example", " Owner@Shop.Example "])
def test_an_address_leads_to_its_user(boss: Client, owner: User, text: str) -> None:
    assert_leads_to(find(boss, text), owner)


@pytest.mark.parametrize("text", ["The Shop", "the shop", "acc_"])
def test_a_name_or_an_id_leads_to_its_account(boss: Client, account: Account, text: str) -> None:
    assert_leads_to(find(boss, account.public_id if text == "acc_" else text), account)


def test_a_part_of_a_name_shows_what_is_like_it(
    boss: Client, account: Account, stranger: User
) -> None:
    said = found(boss, "sho")
    assert f"Accounts The Shop {account.public_id} Usage and requests" in said
    assert "Users owner@shop.example Olive Owner The Shop" in said
    assert "Elsewhere" not in said


def test_of_two_with_one_name_staff_choose(boss: Client, account: Account, stranger: User) -> None:
    open_account(user=stranger, name="The Shop")
    assert found(boss, "The Shop").count("The Shop acc_") == 2


def test_what_was_asked_for_stands_before_what_is_like_it(boss: Client, account: Account) -> None:
    for number in range(12):
        user = make_user(f"a{number}-owner@shop.example")
        open_account(user=user, name=f"At The Shop {number}")
    assert_leads_to(find(boss, "The Shop"), account)
    assert_leads_to(find(boss, "owner@shop.example"), User.objects.get(email="owner@shop.example"))
    assert found(boss, "shop").count(" At The Shop") == 10 + 10


@pytest.mark.parametrize(
    "text", ["svc_live_{0}…{1}", "{0}…{1}", "svc_live_{0}...{1}", "{0}*****{1}", "key_"]
)
def test_a_mask_or_an_id_leads_to_its_key(boss: Client, key: ApiKey, text: str) -> None:
    text = key.public_id if text == "key_" else text.format(key.first_four, key.last_four)
    assert_leads_to(find(boss, text), key)


def test_four_characters_show_the_keys_that_begin_or_end_so(boss: Client, key: ApiKey) -> None:
    for text in (key.first_four, key.last_four):
        assert f"{key} {key.public_id} The Shop" in found(boss, text)


def test_a_revoked_key_says_so(boss: Client, key: ApiKey) -> None:
    key.revoke()
    assert f"{key.public_id}, revoked" in found(boss, key.first_four)


@pytest.mark.parametrize("request_id", ["req_abcdefghijklmnopqrst", "my-own_id-2026"])
def test_the_id_of_a_request_leads_to_it(boss: Client, account: Account, request_id: str) -> None:
    entry = logged(account, request_id)
    assert_leads_to(find(boss, request_id), entry)


def test_an_id_that_a_client_uses_again_and_again_shows_ten(boss: Client, account: Account) -> None:
    for _ in range(12):
        logged(account, "always-the-same")
    assert found(boss, "always-the-same").count("always-the-same 200 answered") == 10


@pytest.mark.parametrize("text", ["INV-000001", "inv-1", "1", "000001", "ord_"])
def test_the_number_of_an_invoice_or_an_order_leads_to_it(
    boss: Client, order: Order, text: str
) -> None:
    assert_leads_to(find(boss, order.public_id if text == "ord_" else text), order)


def test_recipients_of_customers_are_not_searched(boss: Client, account: Account) -> None:
    LogEntry.objects.filter(pk=logged(account, "req_abcdefghijklmnopqrst").pk).update(
        address="j***@example.com", domain="example.com"
    )
    assert "Nothing found." in found(boss, "j***@example.com")
    assert "Nothing found." in found(boss, "example.com")


@pytest.mark.parametrize("text", ["nobody@nowhere.example", "x\0y", "a" * 300, "", "  ", "%", "'"])
def test_nothing_found_says_what_can_be_found(boss: Client, owner: User, text: str) -> None:
    said = found(boss, text)
    assert "Nothing found. The box above finds users by e-mail" in said


def test_what_was_looked_for_is_drawn_as_text(boss: Client) -> None:
    assert "&lt;b&gt;x" in find(boss, "<b>x").content.decode()


@pytest.mark.parametrize("form", ["{}", " {} ", "Authorization: Bearer {}", "SVC_API_KEY='{}'"])
def test_a_pasted_key_leads_to_its_page_and_never_comes_back(
    boss: Client, key: ApiKey, secret: str, form: str
) -> None:
    with CaptureQueriesContext(connection) as asked:
        answer = find(boss, form.format(secret))
    assert_leads_to(answer, key)
    assert secret[len(crypto.PREFIX) :] not in answer["Location"]
    # Of what is prepared already, psycopg tells no text: it holds no values.
    texts = [query["sql"] or "" for query in asked]
    assert [text for text in texts if secret[len(crypto.PREFIX) :] in text] == []
    page = boss.get(answer["Location"]).content.decode()
    assert key.display in page
    assert secret not in page


def test_a_key_without_its_prefix_is_known_too(boss: Client, key: ApiKey, secret: str) -> None:
    assert_leads_to(find(boss, secret.removeprefix(crypto.PREFIX)), key)


def test_a_key_of_nobody_is_not_written_on_the_page(boss: Client, key: ApiKey) -> None:
    foreign = crypto.generate()
    page = find(boss, foreign).content.decode()
    assert foreign not in page
    assert foreign[len(crypto.PREFIX) :] not in page
    assert "holds an API key, or a part of one" in page
    assert "Nothing found." in page


def test_a_key_that_was_cut_shows_those_that_begin_like_it(
    boss: Client, key: ApiKey, secret: str
) -> None:
    page = find(boss, secret[:30]).content.decode()
    assert secret[:30] not in page
    assert key.display in page


def test_the_box_is_on_every_page_and_sends_nothing_in_an_address(boss: Client) -> None:
    for address in ("/admin/", "/admin/accounts/account/", SEARCH):
        page = boss.get(address).content.decode()
        form = page.partition('id="staff-search"')[2].partition("</form>")[0]
        assert 'method="post"' in form
        assert f'action="{SEARCH}"' in form
        assert "csrfmiddlewaretoken" in form
        assert "value=" not in form.partition('name="text"')[2]


def test_what_stands_in_an_address_is_not_searched_for(boss: Client, account: Account) -> None:
    answer = boss.get(SEARCH, {"text": "The Shop"})
    assert answer.status_code == 200
    assert "The Shop" not in answer.content.decode()


@pytest.mark.parametrize(
    ("missing", "text"),
    [
        ("view_account", "The Shop"),
        ("view_user", "owner@shop.example"),
        ("view_order", "INV-000001"),
        ("view_logentry", "req_abcdefghijklmnopqrst"),
        ("view_apikey", "key_"),
        ("view_apikey", "svc_live_"),
    ],
)
def test_what_a_group_may_not_see_it_does_not_find(
    account: Account, order: Order, key: ApiKey, secret: str, missing: str, text: str
) -> None:
    logged(account, "req_abcdefghijklmnopqrst")
    text = {"key_": key.public_id, "svc_live_": secret}.get(text, text)
    client = in_group("Support")
    assert find(client, text).status_code == 302
    take_from_group("Support", missing)
    assert "Nothing found." in found(client, text)


def test_customers_do_not_search(owner: User) -> None:
    answer = find(signed_in(owner), "The Shop")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/admin/login/")
