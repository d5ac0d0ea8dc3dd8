import pytest
from django.test import Client

from accounts.models import User
from tests.conftest import signed_in


@pytest.fixture
def superuser(staff: User) -> Client:
    return signed_in(staff)
