"""The product's URLs, and an operation, a page and background work that crash with secrets."""

import logging
from collections.abc import Callable
from typing import NoReturn

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest
from django.urls import path

from apikeys.request import ApiRequest
from apikeys.rest.view import ApiView
from config.urls import handler400, handler403, handler404, handler500, urlpatterns

__all__ = ["handler400", "handler403", "handler404", "handler500"]

ADDRESS = "whole.address@people.example"
PASSWORD = "hunter2-is-no-good-password"
API_KEY = "svc_live_inventedforthistest0123456789abcdefghijkl"
PRIVATE = (ADDRESS, "whole.address", "people.example", PASSWORD, API_KEY, API_KEY[9:30])

first_round = iter(range(1))
logger = logging.getLogger(__name__)


class Failure(Exception):
    """An error whose text has what must not leave."""


def fail(place: str) -> NoReturn:
    local_variable = f"{ADDRESS} {PASSWORD} {API_KEY}"
    try:
        raise KeyError(local_variable)
    except KeyError as error:
        error.add_note(local_variable)
        raise Failure(f"{place}: {local_variable}") from error


class CrashingView(ApiView):
    def post(self, request: ApiRequest) -> NoReturn:
        logger.info("About to crash for %s with %s", ADDRESS, PASSWORD)
        fail("api")

    post.query_parameters = ("email", "password")  # type: ignore[attr-defined]


@login_not_required
def crashing_page(request: HttpRequest, text: str) -> NoReturn:
    extra = {"password": PASSWORD, "email": ADDRESS}
    logger.error("Cannot sign in %s with %s and %s", ADDRESS, PASSWORD, API_KEY, extra=extra)
    fail("page")


def crash_in_the_background(*, is_stopping: Callable[[], bool]) -> None:
    """Crash in the first round only."""
    for _ in first_round:
        fail("background")


urlpatterns = [
    path("v1/crash", CrashingView.as_view()),
    path("crash/<text>/", crashing_page),
    *urlpatterns,
]
