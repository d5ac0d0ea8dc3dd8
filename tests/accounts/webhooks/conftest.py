import pytest

from accounts.models import Account, WebhookEndpoint
from tests.accounts.webhooks.factory import make_endpoint
from tests.support.engine_dns import fake_dns

__all__ = ["fake_dns"]


@pytest.fixture
def endpoint(account: Account) -> WebhookEndpoint:
    return make_endpoint(account, "https://hooks.shop.example/events")
