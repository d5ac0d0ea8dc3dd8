"""Starting, pausing, resuming and canceling lists through the API, from upload to download."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Account
from credits import services as credit_services
from lists.models import AddressList
from lists.models.states import ListState
from tests.lists.results_factory import CSV, make_ready_list, set_state
from tests.lists.runs import wallet, work
from tests.lists.uploads import upload_and_parse
from tests.support.api_client import ApiClient, error_code, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

# Syntax errors and localhost need no DNS, and cost credits unlike the sandbox.
BILLED = b"email\nno-at-end@\njane@localhost\ndeliverable@sandbox.test\n@shop.example\n"


def act(
    caller: ApiClient, address_list: AddressList, action: str, body: Any = None, **headers: str
) -> Any:
    path = f"/v1/lists/{address_list.public_id}/{action}"
    return caller.send_json("POST", path, body, **headers)


class TestStart:
    def test_list_runs_to_the_download(self, caller: ApiClient, account: Account) -> None:
        balance, _ = wallet(account)
        made = make_ready_list(account, BILLED)
        assert act(caller, made, "start", {}).status_code == 200
        work()
        shown = caller.get(f"/v1/lists/{made.public_id}").json()
        assert shown["state"] == "completed"
        assert shown["verdicts"]["undeliverable"] == 3
        # The sandbox is free.
        assert shown["credits"] == {"at_most": 4, "held": 0, "charged": 3}
        assert wallet(account) == (balance - 3, 0)
        download = caller.get(f"/v1/lists/{made.public_id}/download")
        text = b"".join(download.streaming_content).decode()
        assert [line.split(",")[1] for line in text.splitlines()] == [
            *("ev_verdict", "undeliverable", "undeliverable", "deliverable", "undeliverable")
        ]
        assert caller.get(f"/v1/lists/{made.public_id}/results").json()["next"] is None

    def test_retry_with_the_same_idempotency_key_returns_the_first_response(
        self, caller: ApiClient, account: Account
    ) -> None:
        made = make_ready_list(account)
        key = {"Idempotency_Key": "start-1"}
        first = act(caller, made, "start", {"max_credits": 4}, **key)
        work()
        again = act(caller, made, "start", {"max_credits": 4}, **key)
        assert (again.status_code, again.content) == (200, first.content)
        assert again.headers["Idempotent-Replayed"] == "true"
        assert "Idempotent-Replayed" not in first.headers
        for other in (
            act(caller, made, "start", {"max_credits": 5}, **key),
            act(caller, make_ready_list(account), "start", {"max_credits": 4}, **key),
        ):
            assert (other.status_code, error_code(other)) == (422, "idempotency_key_reused")
        assert error_code(act(caller, made, "start", {"max_credits": 4})) == "invalid_state"

    def test_list_of_few_addresses_is_confirmed(self, caller: ApiClient, account: Account) -> None:
        content = CSV.replace(b"Risky", b"risky@sandbox.test")
        made = make_ready_list(account, content, column=0)
        response = act(caller, made, "start")
        assert (response.status_code, error_code(response)) == (409, "confirmation_required")
        error = response.json()["error"]
        assert error["param"] == "column"
        assert error["details"] == {"rows": 7, "not_address": 6}
        assert act(caller, made, "start", {"confirm": True}).json()["state"] == "queued"

    def test_column_that_does_not_exist_is_400(self, caller: ApiClient, account: Account) -> None:
        response = act(caller, make_ready_list(account), "start", {"column": 5})
        assert refusal(response) == (400, "invalid_field", "column")
        error = response.json()["error"]
        assert error["details"] == {"columns": 5}
        assert "the file has 5 columns" in error["message"]

    def test_addresses_are_extracted_if_asked(self, caller: ApiClient, account: Account) -> None:
        made = upload_and_parse(account, "Jane <deliverable@sandbox.test>\nx@,y@\n")
        path = f"/v1/lists/{made.public_id}"
        assert caller.get(f"{path}/preview").json()["extractable"] == 1
        assert act(caller, made, "start", {"extract": True}).json()["state"] == "parsing"
        work()
        first = caller.get(f"{path}/results").json()["data"][0]["result"]
        assert (first["email"], first["verdict"]) == ("deliverable@sandbox.test", "deliverable")
        download = b"".join(caller.get(f"{path}/download").streaming_content).decode()
        assert "Jane <deliverable@sandbox.test>," in download

    def test_price_above_the_balance_is_refused(self, caller: ApiClient, account: Account) -> None:
        balance, _ = wallet(account)
        credit_services.deduct(account=account, amount=balance - 3, reason="Test", actor=None)
        made = make_ready_list(account)
        response = act(caller, made, "start")
        assert (response.status_code, error_code(response)) == (402, "insufficient_credits")
        assert response.json()["error"]["details"]["required"] == 4
        assert AddressList.objects.get(pk=made.pk).state == ListState.READY
        assert wallet(account) == (3, 0)

    def test_price_above_max_credits_is_refused_and_can_be_sent_again_with_the_same_key(
        self, caller: ApiClient, account: Account
    ) -> None:
        made, key = make_ready_list(account), {"Idempotency_Key": "start-1"}
        response = act(caller, made, "start", {"max_credits": 3}, **key)
        assert refusal(response) == (402, "max_credits_exceeded", "max_credits")
        assert response.json()["error"]["details"] == {"required": 4, "max_credits": 3}
        assert wallet(account)[1] == 0
        assert act(caller, made, "start", {"max_credits": 4}, **key).status_code == 200

    def test_wrong_field_is_refused(self, caller: ApiClient, account: Account) -> None:
        made = make_ready_list(account)
        for name, values in {
            "column": (-1, "email", True, 16_384),
            "max_credits": (0, 1.5, 10**20),
            "confirm": ("yes", None),
        }.items():
            for value in values:
                response = act(caller, made, "start", {name: value})
                assert refusal(response) == (400, "invalid_field", name), value
        assert AddressList.objects.get(pk=made.pk).state == ListState.READY

    def test_unknown_field_or_body_is_refused(self, caller: ApiClient, account: Account) -> None:
        made = make_ready_list(account)
        for action in ("start", "pause", "resume", "finish", "cancel", "sample"):
            response = act(caller, made, action, {"columns": 1})
            assert refusal(response) == (400, "unknown_field", "columns"), action
            accepted = "only these fields: " if action == "start" else "accepts no fields."
            assert accepted in response.json()["error"]["message"]
            response = act(caller, made, action, [1])
            assert (response.status_code, error_code(response)) == (400, "invalid_field"), action


class TestLaterActions:
    def test_list_whose_unknown_addresses_are_checked_again_can_be_finished(
        self, caller: ApiClient, account: Account
    ) -> None:
        now = timezone.now()
        made = make_ready_list(account)
        assert error_code(act(caller, made, "finish")) == "invalid_state"
        set_state(made, ListState.RECHECKING, results_at=now, recheck_at=now, rechecks=1)
        shown = caller.get(f"/v1/lists/{made.public_id}").json()
        assert shown["results_at"] == shown["progress"]["recheck_at"]
        assert shown["progress"]["rechecks_end_at"] > shown["results_at"]
        finished = act(caller, made, "finish").json()
        assert finished["state"] == "completed"
        assert finished["progress"]["rechecks_end_at"] is None
