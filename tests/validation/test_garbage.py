"""A call's objects go when it ends, not with a full garbage collection thousands of calls later."""

import gc
from collections import Counter

from django.test import RequestFactory

from accounts.models import Account
from apikeys.models import ApiKey
from apikeys.request import ApiCall, ApiRequest
from config.wsgi import Handler, Request
from credits.models import Wallet
from tests.servers.dns import FakeDns

PER_CALL = (Request, ApiRequest, ApiCall, ApiKey, Account, Wallet)


CALLS = (
    ("POST", "/v1/validate", '{"email": "jane@shop.com"}', 200),
    ("POST", "/v1/validate", '{"email": "insufficient_credits@sandbox.test"}', 402),
    ("POST", "/v1/validate", "{}", 400),
    ("POST", "/v1/validate/batch", '{"emails": ["jane@shop.com"]}', 200),
    ("GET", "/v1/me", "", 200),
    ("HEAD", "/v1/me", "", 200),
    ("GET", "/v1/credits", "", 200),
    ("GET", "/v1/usage", "", 200),
    ("GET", "/v1/domains", "", 200),
    ("GET", "/v1/lists", "", 200),
    ("GET", "/v1/validations/val_01KAHJ8Q6YB3T5W7XNMV0ZRCDE", "", 404),
    ("GET", "/v1/nothing", "", 404),
)


def test_call_leaves_nothing_for_the_garbage_collector(secret: str, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com")
    # Whatever earlier tests and fixtures have left.
    gc.collect()
    before = count_objects()
    gc.disable()
    try:
        for method, path, body, status in CALLS:
            assert call(method, path, secret, body) == status
            assert count_objects() == before, (method, path, body)
        assert call("POST", "/v1/validate", "svc_live_unknown", "{}") == 401
        assert count_objects() == before
    finally:
        gc.enable()


def call(method: str, path: str, secret: str, body: str) -> int:
    """Handle a request as the product does. Django's test client keeps what it has sent."""
    headers = {"Authorization": f"Bearer {secret}"}
    request = RequestFactory().generic(method, path, body, "application/json", headers=headers)
    return Handler().get_response(Request(request.environ)).status_code


def count_objects() -> dict[type, int]:
    kinds = Counter(map(type, gc.get_objects()))
    return {kind: kinds[kind] for kind in PER_CALL}
