import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from pytest_django import Settings

from accounts.authentication import sign_in_queue
from accounts.authentication.sign_in_queue import SignInQueueMiddleware
from accounts.models import User
from tests.accounts.authentication.test_known_browsers import known_browser
from tests.conftest import PASSWORD

pytestmark = pytest.mark.anywhere

LOGIN = "/accounts/login/"


def sign_in(path: str = LOGIN) -> HttpRequest:
    request = RequestFactory().post(path, {"login": "jane@shop.example", "password": "wrong"})
    request.id, request.refusal = "req_1", ""  # type: ignore[attr-defined]
    return request


class Page:
    """A view that blocks until `may_finish` is set."""

    def __init__(self) -> None:
        self.started, self.may_finish = threading.Event(), threading.Event()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        self.started.set()
        self.may_finish.wait(30)
        return HttpResponse()


@pytest.fixture
def page() -> Iterator[Page]:
    page = Page()
    yield page
    page.may_finish.set()


def test_queue_of_a_worker_holds_its_share_of_32_strangers(page: Page, settings: Settings) -> None:
    settings.POOL_WORKERS = 8
    queue = SignInQueueMiddleware(page)
    with ThreadPoolExecutor(4) as executor:
        admitted = [executor.submit(queue, sign_in()) for _ in range(4)]  # type: ignore[arg-type]
        while queue._waiting < 4:
            time.sleep(0.001)
        refused = queue(sign_in())  # type: ignore[arg-type]
        page.may_finish.set()
        assert [each.result().status_code for each in admitted] == [200] * 4
    assert refused.status_code == 503


def test_stranger_is_refused_after_the_maximum_wait(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in_queue, "MAX_WAIT_SECONDS", 0.05)
    queue = SignInQueueMiddleware(page)
    with ThreadPoolExecutor(1) as executor:
        first = executor.submit(queue, sign_in())  # type: ignore[arg-type]
        assert page.started.wait(30)
        second = queue(sign_in())  # type: ignore[arg-type]
        page.may_finish.set()
        assert first.result().status_code == 200
    assert second.status_code == 503
    assert b"Too many people are signing in. Try again in a few seconds." in second.content


@pytest.mark.django_db
@pytest.mark.parametrize("path", [LOGIN, "/accounts/signup/", "/accounts/password/reset/key/1-a/"])
def test_full_queue_refuses_every_page_that_hashes_a_password(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in_queue, "QUEUE_SIZE", 0)
    refused = Client().post(path, {"login": "jane@shop.example", "password": "wrong"})
    assert refused.status_code == 503
    assert refused.headers["Retry-After"] == "5"
    assert refused.headers["Content-Security-Policy"]
    # The page itself is shown.
    assert Client().get(LOGIN).status_code == 200


def test_known_browser_bypasses_a_full_queue_only_to_sign_in(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = known_browser(owner)
    monkeypatch.setattr(sign_in_queue, "QUEUE_SIZE", 0)
    form = {"login": owner.email, "password": PASSWORD}
    for path in ("/accounts/signup/", "/accounts/password/reset/key/1-a/"):
        assert browser.post(path, form).status_code == 503
    assert browser.post(LOGIN, form).status_code == 302
