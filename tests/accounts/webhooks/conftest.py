import pytest

from accounts.models import Account, WebhookEndpoint
from accounts.webhooks.keys import generate_keys, store_keys
from tests.support.engine_dns import fake_dns

__all__ = ["fake_dns"]


@pytest.fixture
def endpoint(account: Account) -> WebhookEndpoint:
    endpoint = WebhookEndpoint(account=account, url="https://hooks.shop.example/events")
    store_keys(endpoint, generate_keys())
    endpoint.save()
    return endpoint
