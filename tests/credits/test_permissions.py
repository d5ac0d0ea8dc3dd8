"""Requests are refused with 402 after the body was read, and before any work."""

import pytest
from django.test import override_settings
from django.urls import re_path
from rest_framework.permissions import BasePermission

from accounts.models import Account
from apikeys.request import ApiRequest
from apikeys.rest.request_body import read_object
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.view import ApiView
from config.urls import urlpatterns
from credits.permissions import HasCredits
from tests.support.api_client import ApiClient, error_code

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


class PricedView(ApiView):
    account_relations = ("wallet",)
    billing_classes = [HasCredits]

    def prepare(self) -> None:
        price = read_object(self.request)["price"]
        assert isinstance(price, int)
        self.request.call.price = price

    def post(self, request: ApiRequest) -> ApiResponse:
        return json_response({"done": True})


class Urls:
    urlpatterns = [re_path(r"^v1/priced$", PricedView.as_view()), *urlpatterns]


@override_settings(ROOT_URLCONF=Urls)
def test_free_request_works_at_balance_0(caller: ApiClient) -> None:
    assert caller.call("POST", "/v1/priced", b'{"price": 0}').status_code == 200


@override_settings(ROOT_URLCONF=Urls)
def test_request_that_costs_the_whole_balance_is_accepted(
    caller: ApiClient, account: Account
) -> None:
    assert account.wallet.balance == 100
    assert caller.call("POST", "/v1/priced", b'{"price": 100}').status_code == 200


@override_settings(ROOT_URLCONF=Urls)
def test_request_that_costs_more_than_the_balance_is_402(caller: ApiClient) -> None:
    response = caller.call("POST", "/v1/priced", b'{"price": 101}')
    assert (response.status_code, error_code(response)) == (402, "insufficient_credits")
    error = response.json()["error"]
    assert (error["details"]["required"], error["details"]["balance"]) == (101, 100)
    assert error["message"].startswith("This request costs 101 credits and your balance is 100.")
    assert error["details"]["top_up_url"].endswith("/credits/packs/")
    assert error["details"]["upgrade_url"].endswith("/credits/plans/")


class ClosedView(PricedView):
    billing_classes = [type("Closed", (BasePermission,), {"has_permission": lambda *_: False})]


class ClosedUrls:
    urlpatterns = [re_path(r"^v1/priced$", ClosedView.as_view()), *urlpatterns]


@override_settings(ROOT_URLCONF=ClosedUrls)
def test_billing_permission_that_returns_false_is_a_500(caller: ApiClient) -> None:
    assert caller.call("POST", "/v1/priced", b'{"price": 0}').status_code == 500


@override_settings(ROOT_URLCONF=Urls)
def test_400_comes_before_402(caller: ApiClient) -> None:
    assert error_code(caller.call("POST", "/v1/priced", b"no json")) == "invalid_json"
