"""Feedback in the dashboard: the form, and the state on the request's page."""

from typing import Any

import pytest
from django.urls import reverse
from pytest_django import Settings

from accounts.models import Account, User
from accounts.roles import ROLES_BY_PERMISSION, Role, TeamPermission
from tests.conftest import make_member
from tests.support.pages import browser_for
from tests.validation.feedback.factory import NO_ADDRESS, make_feedback, make_result
from validation.feedback import services
from validation.models import Feedback, LogEntry

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

FORM = {"expected": "deliverable", "comment": "I know them", "bounce": "550 no such user"}


def form_url(result_id: str) -> str:
    return reverse("validation:send-feedback", args=[result_id])


def request_page(user: User, result_id: str) -> str:
    entry = LogEntry.objects.get(result_id=result_id)
    return str(browser_for(user).get(entry.get_absolute_url()).content.decode())


def test_form_says_that_the_full_address_is_shared(account: Account, owner: User) -> None:
    result = make_result(account, "jane.doe.example.com")
    page = browser_for(owner).get(form_url(result["id"])).content.decode()
    assert "jane.doe.example.com" in page
    assert "shares the full address" in page


def test_member_sends_feedback_and_sees_it_on_the_request(account: Account, owner: User) -> None:
    result = make_result(account)
    assert "Send feedback" in request_page(owner, result["id"])
    response: Any = browser_for(owner).post(form_url(result["id"]), FORM, follow=True)
    page = response.content.decode()
    feedback = Feedback.objects.get()
    assert feedback.text[:3] == (NO_ADDRESS, FORM["comment"], FORM["bounce"])
    assert (feedback.sent_by, feedback.key) == (owner.email, None)
    for text in ("Feedback sent.", "Your feedback", feedback.public_id, "I know them"):
        assert text in page
    assert "Replace feedback" in page


def test_answer_is_shown_on_the_request(account: Account, owner: User, staff: User) -> None:
    feedback = make_feedback(account, user=owner)
    answer = "The server confirms\nthe bounce."
    services.answer_feedback(feedback=feedback, answer=answer, actor=staff)
    page = request_page(make_member(account, Role.VIEWER), feedback.result_id)
    assert "The server confirms<br>the bounce." in page
    assert "Replace feedback" not in page


@pytest.mark.parametrize("role", Role)
def test_comment_is_shown_to_roles_that_may_send_feedback(account: Account, role: Role) -> None:
    feedback = make_feedback(account)
    page = request_page(make_member(account, role), feedback.result_id)
    assert "Your feedback" in page
    assert ("I know them" in page) == (role in ROLES_BY_PERMISSION[TeamPermission.VALIDATE])


def test_page_says_that_a_comment_of_a_removed_key_cannot_be_read(
    account: Account, owner: User, settings: Settings
) -> None:
    feedback = make_feedback(account)
    settings.SECRET_KEY = "another" * 10
    page = request_page(owner, feedback.result_id)
    assert "This comment can no longer be read." in page
    assert "Replace feedback" not in page
    assert browser_for(owner).get(form_url(feedback.result_id)).status_code == 404


def test_limit_is_explained(account: Account, owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "FEEDBACK_PER_DAY", 1)
    make_feedback(account)
    result = make_result(account, "another")
    response: Any = browser_for(owner).post(form_url(result["id"]), FORM, follow=True)
    assert "You can send feedback on 1 results in 24 hours." in response.content.decode()


def test_sandbox_results_take_no_feedback(account: Account, owner: User) -> None:
    result = make_result(account, "deliverable@sandbox.test")
    assert "Send feedback" not in request_page(owner, result["id"])
    response: Any = browser_for(owner).post(form_url(result["id"]), FORM, follow=True)
    assert "your feedback wasn&#x27;t stored" in response.content.decode()
    assert not Feedback.objects.exists()


def test_playground_links_to_the_form(owner: User) -> None:
    response = browser_for(owner).post(reverse("validation:try-address"), {"email": NO_ADDRESS})
    entry = LogEntry.objects.get()
    assert form_url(entry.result_id) in response.content.decode()
