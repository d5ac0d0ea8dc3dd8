import pytest

from accounts.models import Account
from tests.conftest import sign_up_owner
from tests.support.engine_dns import fake_dns, patient_dns
from tests.support.frozen_minute import freeze_time_but_not_processes

__all__ = ["fake_dns", "freeze_time_but_not_processes", "patient_dns"]


@pytest.fixture
def shop(fresh_database: None) -> Account:
    """The account of a customer, in a database that several connections can use."""
    return Account.objects.get(memberships__user=sign_up_owner())
