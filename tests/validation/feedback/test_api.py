"""POST /v1/validations/{id}/feedback."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, AuditEntry, User
from accounts.services import change_log_days
from tests.support.api_client import ApiClient, error_code, refusal
from tests.validation.feedback.factory import NO_ADDRESS, make_feedback
from validation.feedback import services
from validation.ids import new_result_id
from validation.models import Feedback

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

BOUNCE = "550 5.1.1 Mailbox does not exist"


def send(caller: ApiClient, result_id: str, **body: Any) -> Any:
    return caller.send_json("POST", f"/v1/validations/{result_id}/feedback", body)


@pytest.fixture
def result_id(caller: ApiClient) -> str:
    return str(caller.validate(NO_ADDRESS).json()["id"])


def test_feedback_is_accepted_and_free(
    caller: ApiClient, result_id: str, account: Account, owner: User
) -> None:
    response = send(caller, result_id, expected="deliverable", comment="It works", bounce=BOUNCE)
    feedback = Feedback.objects.get()
    assert response.status_code == 202
    assert response.json() == {"id": feedback.public_id, "state": "open"}
    assert feedback.public_id.startswith("fbk_")
    assert feedback.text[:3] == (NO_ADDRESS, "It works", BOUNCE)
    assert (feedback.verdict, feedback.reason) == ("undeliverable", "invalid_syntax")
    assert (feedback.sent_by, feedback.key) == (owner.email, account.api_keys.get())
    account.wallet.refresh_from_db()
    assert account.wallet.balance == 99


def test_each_expectation_is_accepted(caller: ApiClient, result_id: str) -> None:
    for expected in Feedback.Expected.values:
        assert send(caller, result_id, expected=expected, comment=None).status_code == 202
        assert Feedback.objects.get().expected == expected


def test_other_bodies_are_refused(caller: ApiClient, result_id: str) -> None:
    bodies: list[tuple[dict[str, Any], str, str]] = [
        ({}, "missing_field", "expected"),
        ({"expected": "risky"}, "invalid_field", "expected"),
        ({"expected": 1}, "invalid_field", "expected"),
        ({"expected": "disposable", "comment": "x" * 501}, "invalid_field", "comment"),
        ({"expected": "disposable", "bounce": "x" * 4097}, "invalid_field", "bounce"),
        ({"expected": "disposable", "bounce": ["x"]}, "invalid_field", "bounce"),
        ({"expected": "disposable", "email": "x"}, "unknown_field", "email"),
    ]
    for body, code, param in bodies:
        assert refusal(send(caller, result_id, **body)) == (400, code, param)
    response = send(caller, result_id, expected="disposable", comment="x" * 33_000)
    assert error_code(response) == "request_too_large"
    assert not Feedback.objects.exists()


def test_longest_comment_and_bounce_are_accepted_escaped(caller: ApiClient, result_id: str) -> None:
    comment, bounce = "ü" * 500, "\u6f22" * 4096
    response = send(caller, result_id, expected="disposable", comment=comment, bounce=bounce)
    assert response.status_code == 202
    assert Feedback.objects.get().text[:3] == (NO_ADDRESS, comment, bounce)


def test_repeated_feedback_replaces_it(caller: ApiClient, result_id: str, staff: User) -> None:
    first = send(caller, result_id, expected="deliverable", comment="Once").json()
    feedback = Feedback.objects.get()
    services.answer_feedback(feedback=feedback, answer="No", actor=staff)
    again = send(caller, result_id, expected="disposable").json()
    assert again == first
    feedback = Feedback.objects.get()
    assert (feedback.expected, feedback.text.comment) == ("disposable", "")
    assert (feedback.is_open, feedback.answer, feedback.answered_at) == (True, "", None)


def test_result_that_is_not_stored_is_404(
    caller: ApiClient, result_id: str, account: Account, owner: User, other_caller: ApiClient
) -> None:
    assert error_code(send(other_caller, result_id, expected="disposable")) == "not_found"
    unknown = send(caller, new_result_id(), expected="disposable").json()["error"]
    assert unknown["code"] == "not_found"
    for malformed in ("val_1", "bat_06H0F0CMZ0DBZXA6NK1AMB66FA", "%00"):
        response = send(caller, malformed, expected="disposable")
        assert (response.status_code, response.json()["error"]["message"]) == (
            404,
            unknown["message"],
        )
    with time_machine.travel(timezone.now() + timedelta(hours=24, seconds=1)):
        assert error_code(send(caller, result_id, expected="disposable")) == "not_found"
    change_log_days(account=account, days=0, actor=owner)
    assert error_code(send(caller, result_id)) == "not_found"
    assert not Feedback.objects.exists()


def test_feedback_is_accepted_for_a_day_even_if_results_are_stored_for_longer(
    caller: ApiClient, result_id: str, settings: Settings
) -> None:
    settings.RESULT_RETENTION_HOURS = 720
    with time_machine.travel(timezone.now() + timedelta(hours=24, seconds=1)):
        assert caller.get(f"/v1/validations/{result_id}").status_code == 200
        refused = send(caller, result_id, expected="disposable")
    assert error_code(refused) == "not_found"
    assert "from the last 24 hours" in refused.json()["error"]["message"]
    assert send(caller, result_id, expected="disposable").status_code == 202


def test_feedback_beyond_the_daily_limit_is_429(
    caller: ApiClient, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "FEEDBACK_PER_DAY", 2)
    with time_machine.travel(timezone.now() - timedelta(hours=25)):
        make_feedback(account)
    first, second, third = (caller.validate(NO_ADDRESS).json()["id"] for _ in range(3))
    assert send(caller, first, expected="disposable").status_code == 202
    assert send(caller, second, expected="disposable").status_code == 202
    refused = send(caller, third, expected="disposable")
    assert (refused.status_code, error_code(refused)) == (429, "rate_limit_exceeded")
    details = refused.json()["error"]["details"]
    assert (details["limit"], details["window"]) == (2, 86_400)
    assert refused.headers["Retry-After"] == str(details["retry_after"]) == "86400"
    # Replacing is not one more.
    assert send(caller, first, expected="deliverable").status_code == 202


def test_feedback_on_the_sandbox_is_accepted_but_not_stored(caller: ApiClient) -> None:
    result = caller.validate("deliverable@sandbox.test").json()
    response = send(caller, result["id"], expected="undeliverable")
    assert (response.status_code, response.json()["state"]) == (202, "open")
    assert not Feedback.objects.exists()


def test_audit_log_has_the_key_and_the_masked_address(
    caller: ApiClient, account: Account, result_id: str
) -> None:
    send(caller, result_id, expected="deliverable")
    entry = AuditEntry.objects.get(action="feedback.sent")
    feedback = Feedback.objects.get()
    assert (entry.account, entry.actor, entry.ip) == (account, None, "198.51.100.7")
    assert entry.actor_name == "API key The Shop's server"
    assert entry.target == f"n*** ({feedback.public_id}): deliverable"


def test_texts_are_stored_encrypted_and_without_api_keys(
    caller: ApiClient, result_id: str, secret: str
) -> None:
    send(caller, result_id, expected="deliverable", comment=f"with {secret}", bounce="a\0b")
    feedback = Feedback.objects.get()
    assert "with" not in feedback.packed
    assert secret not in feedback.text.comment
    assert feedback.text.bounce == "a\u2400b"
