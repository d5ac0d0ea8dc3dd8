"""GET /v1/lists, GET and DELETE /v1/lists/{id}, and the preview."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Account, AuditEntry, User
from apikeys.actor import Actor
from apikeys.models import ApiKey
from credits.wallet.charges import Charge
from credits.wallet.holds import charge_hold, hold_credits
from lists.models import AddressList
from lists.models.states import ListState
from lists.processing.running import start_once
from lists.uploads.services import create_list
from tests.lists.results_factory import make_list, make_ready_list, set_state
from tests.support.api_client import ApiClient, error_code, read_all, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

OPERATIONS = [
    ("GET", ""),
    ("PATCH", ""),
    ("DELETE", ""),
    ("GET", "/preview"),
    *(("POST", f"/{name}") for name in ("sample", "start", "pause", "resume", "finish", "cancel")),
    ("POST", "/rerun"),
    ("GET", "/parts"),
    ("POST", "/parse"),
    ("GET", "/results"),
    ("GET", "/download"),
]


@pytest.fixture
def account_of_stranger(stranger: User) -> Account:
    return Account.objects.get(memberships__user=stranger)


def get(caller: ApiClient, address_list: AddressList, rest: str = "") -> Any:
    return caller.get(f"/v1/lists/{address_list.public_id}{rest}")


class TestPages:
    def test_pages_contain_each_list_once(self, caller: ApiClient, account: Account) -> None:
        made = [create_list(actor=Actor(account)) for _ in range(5)]
        same = AddressList.objects.filter(pk__in=[made[1].pk, made[2].pk])
        same.update(created_at=made[1].created_at)
        assert read_all(caller, "/v1/lists") == [one.public_id for one in reversed(made)]

    def test_pages_contain_only_wanted_states(self, caller: ApiClient, account: Account) -> None:
        made = {state: create_list(actor=Actor(account)) for state in [*ListState][:5]}
        for state, one in made.items():
            set_state(one, state)

        def find(query: str) -> list[str]:
            return [one["state"] for one in caller.get(f"/v1/lists?{query}").json()["data"]]

        assert find("state=ready") == ["ready"]
        assert find("state=ready,running") == ["running", "ready"]
        # The page begins behind a list of any state.
        last = made[ListState.QUEUED].public_id
        assert find(f"state=ready,running&starting_after={last}") == ["ready"]
        assert find("state=failed") == []

    def test_wrong_parameter_is_refused(self, caller: ApiClient) -> None:
        for states in ("", "done", "ready,done", "ready,", "ready, running"):
            response = caller.get(f"/v1/lists?state={states}")
            assert refusal(response) == (400, "invalid_field", "state"), states
            assert "uploading, parsing, ready" in response.json()["error"]["message"]
        for query in ("limit=0", "limit=101", "limit=x", "limit=1&limit=2"):
            response = caller.get(f"/v1/lists?{query}")
            assert refusal(response) == (400, "invalid_field", "limit"), query

    def test_lists_of_another_account_are_neither_shown_nor_cursors(
        self, caller: ApiClient, account_of_stranger: Account
    ) -> None:
        other = create_list(actor=Actor(account_of_stranger))
        assert caller.get("/v1/lists").json() == {"data": [], "has_more": False, "next": None}
        response = caller.get(f"/v1/lists?starting_after={other.public_id}")
        assert refusal(response) == (400, "invalid_field", "starting_after")


class TestAccess:
    def test_list_of_another_account_is_not_found(
        self, caller: ApiClient, account_of_stranger: Account
    ) -> None:
        other = make_list(account_of_stranger)
        for method, rest in [*OPERATIONS, ("PUT", "/parts/1")]:
            response = caller.call(method, f"/v1/lists/{other.public_id}{rest}")
            assert error_code(response) == "not_found", f"{method} {rest}"
            assert response.status_code == 404
            assert AddressList.objects.filter(pk=other.pk).exists(), f"{method} {rest}"

    def test_unknown_query_parameter_is_refused(self, caller: ApiClient, account: Account) -> None:
        made = make_list(account)
        for method, rest in OPERATIONS:
            response = caller.call(method, f"/v1/lists/{made.public_id}{rest}?filters=all")
            assert refusal(response) == (400, "unknown_field", "filters"), f"{method} {rest}"

    def test_malformed_id_is_not_found_without_a_query(self, caller: ApiClient) -> None:
        Account.objects.update(requests_per_minute=1_000)
        malformed = ("lst_short", "lst_" + "a" * 21, "bat_06H0F0CMZ0DBZXA6NK1AMB66FA", "%00")
        for method, rest in OPERATIONS:
            unknown = caller.call(method, f"/v1/lists/lst_{'a' * 20}{rest}").json()["error"]
            for list_id in malformed:
                with CaptureQueriesContext(connection) as queries:
                    response = caller.call(method, f"/v1/lists/{list_id}{rest}")
                assert response.status_code == 404
                assert response.json()["error"]["message"] == unknown["message"]
                assert not [query for query in queries if "lists_addresslist" in query["sql"]]


class TestOneList:
    def test_completed_list_shows_its_counts(self, caller: ApiClient, account: Account) -> None:
        shown = get(caller, make_list(account, name="People", metadata={"a": "b"})).json()
        described = (shown["name"], shown["state"], shown["metadata"])
        assert described == ("People", "completed", {"a": "b"})
        assert shown["counts"] == {
            "rows": 7,
            "empty": 1,
            "not_address": 1,
            "bad_syntax": 0,
            "duplicates": 1,
            "addresses": 4,
        }
        verdicts = ("deliverable", "risky", "undeliverable", "unknown")
        assert shown["verdicts"] == dict.fromkeys(verdicts, 1)
        assert (shown["column"], shown["header"]) == (1, True)
        assert shown["progress"]["percent"] == 100

    def test_nothing_is_known_of_the_rows_until_they_are_counted(
        self, caller: ApiClient, account: Account
    ) -> None:
        shown = get(caller, create_list(actor=Actor(account))).json()
        assert (shown["state"], shown["counts"]) == ("uploading", None)
        assert shown["credits"] == {"at_most": None, "held": 0, "charged": 0}

    def test_credits_charged_to_an_earlier_hold_are_counted(
        self, caller: ApiClient, account: Account, key: ApiKey
    ) -> None:
        made = make_ready_list(account)
        for number, suffix in enumerate(["", ":2", ":3"], 1):
            source = f"list:{made.public_id}{suffix}"
            hold = hold_credits(account=account, amount=4, source=source, reason="")
            charge_hold(hold=hold, charges=[Charge(account, key, "risky", number, 5)])
        set_state(made, ListState.RUNNING, hold=hold)
        assert get(caller, made).json()["credits"] == {"at_most": 4, "held": 1, "charged": 6}

    def test_running_list_shows_its_progress(self, caller: ApiClient, account: Account) -> None:
        now = timezone.now().timestamp()
        made = make_list(account, state=ListState.RUNNING)
        marks = [[now - 10, 0], [now, 20]]
        set_state(made, ListState.RUNNING, domains=2, addresses=24, progress_marks=marks)
        progress = get(caller, made).json()["progress"]
        assert (progress["rows_read"], progress["checked"], progress["total"]) == (7, 4, 24)
        assert (progress["domains_checked"], progress["domains_total"]) == (2, 2)
        assert (progress["percent"], progress["seconds_left"]) == (54, 10)

    def test_list_that_starts_automatically_is_never_ready_in_passing(
        self, caller: ApiClient, account: Account
    ) -> None:
        made = make_ready_list(account, starts_when_ready=True)
        shown = get(caller, made).json()
        assert (shown["state"], shown["counts"]) == ("parsing", None)
        refused = caller.call("POST", f"/v1/lists/{made.public_id}/pause")
        assert refused.json()["error"]["details"] == {"state": "parsing"}
        start_once()
        assert get(caller, made).json()["state"] == "queued"

    def test_error_of_a_failed_list_is_shown(self, caller: ApiClient, account: Account) -> None:
        made = create_list(actor=Actor(account))
        error = {"error_code": "no_rows", "error_message": "The file has no rows."}
        set_state(made, ListState.FAILED, **error)
        shown = get(caller, made).json()
        assert shown["error"] == {"code": "no_rows", "message": "The file has no rows."}


class TestChanges:
    @staticmethod
    def change(caller: ApiClient, address_list: AddressList, document: Any) -> Any:
        return caller.send_json("PATCH", f"/v1/lists/{address_list.public_id}", document)

    def test_name_and_metadata_can_be_changed_in_any_state(
        self, caller: ApiClient, account: Account
    ) -> None:
        made = make_list(account, name="Old", metadata={"a": "b"})
        changed = self.change(caller, made, {"name": "New"}).json()
        assert (changed["name"], changed["metadata"]) == ("New", {"a": "b"})
        assert changed["state"] == "completed"
        self.change(caller, made, {"metadata": {"c": "d"}})
        shown = get(caller, made).json()
        assert (shown["name"], shown["metadata"]) == ("New", {"c": "d"})
        (entry, _) = AuditEntry.objects.filter(action="list.renamed").order_by("pk")
        assert entry.target == f"New ({made.public_id})"

    def test_wrong_change_is_refused_and_one_of_nothing_is_not_recorded(
        self, caller: ApiClient, account: Account
    ) -> None:
        made = make_list(account, name="Old")
        for document, code, param in (
            *(({"name": name}, "invalid_field", "name") for name in ("", " ", None, "a\nb")),
            ({"name": "x" * 101}, "invalid_field", "name"),
            ({"metadata": {"": "x"}}, "invalid_field", "metadata"),
            ({"metadata": None}, "invalid_field", "metadata"),
            ({"dedupe": "off"}, "unknown_field", "dedupe"),
        ):
            response = self.change(caller, made, document)
            assert refusal(response) == (400, code, param), document
        for document in ({}, {"name": "Old"}):
            assert self.change(caller, made, document).json()["name"] == "Old"
        assert not AuditEntry.objects.filter(action="list.renamed").exists()


class TestPreview:
    def test_preview_shows_rows_and_the_price(self, caller: ApiClient, account: Account) -> None:
        shown = get(caller, make_ready_list(account), "/preview").json()
        assert shown["header"] == ["name", "email", "note"]
        assert shown["first_rows"][1] == ["Risky", "risky@sandbox.test", "=1+1"]
        assert (shown["column"], shown["guessed_column"]) == (1, 1)
        assert shown["columns"][1] == {
            "index": 1,
            "name": "email",
            "evidence": "83% of 6 cells have an address",
        }
        assert (shown["format"], shown["encoding"], shown["delimiter"]) == ("text", "utf-8", ",")
        assert shown["encoding_confidence"] == "certain"
        assert shown["counts"]["addresses"] == 4
        assert shown["price"] == {"at_most": 4}
        assert shown["shares"] is None

    def test_sandbox_addresses_have_no_price(self, caller: ApiClient, account: Account) -> None:
        made = make_ready_list(account)
        set_state(made, ListState.READY, sandbox_addresses=3)
        assert get(caller, made, "/preview").json()["price"] == {"at_most": 1}
        assert get(caller, made).json()["credits"]["at_most"] == 1

    def test_longer_list_has_shares(self, caller: ApiClient, account: Account) -> None:
        content = b"".join(b"jane%d@mailbox.test\n" % number for number in range(99))
        made = make_ready_list(account, content + b"info@shop.example\n")
        shares = get(caller, made, "/preview").json()["shares"]
        assert shares["role_account"] == 0.01
        assert shares["top_domains"] == [
            {"domain": "mailbox.test", "share": 0.99},
            {"domain": "shop.example", "share": 0.01},
        ]

    def test_list_without_a_header_has_none(self, caller: ApiClient, account: Account) -> None:
        made = make_ready_list(account, b"risky@sandbox.test\n")
        assert get(caller, made, "/preview").json()["header"] is None

    def test_list_without_rows_has_no_preview(self, caller: ApiClient, account: Account) -> None:
        made = create_list(actor=Actor(account))
        for state in ("uploading", "canceled"):
            response = get(caller, made, "/preview")
            assert (response.status_code, error_code(response)) == (409, "invalid_state")
            assert response.json()["error"]["details"] == {"state": state}
            caller.call("POST", f"/v1/lists/{made.public_id}/cancel")
        set_state(made, ListState.EXPIRED, expires_at=timezone.now())
        response = get(caller, made, "/preview")
        assert (response.status_code, error_code(response)) == (410, "list_expired")
