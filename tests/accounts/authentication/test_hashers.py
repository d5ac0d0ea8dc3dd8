from pathlib import Path

import argon2
import pytest
from django.contrib.auth.hashers import check_password
from pytest_django import Settings

from accounts.authentication.passwords.hashers import Argon2PasswordHasher
from accounts.models import User
from tests.servers.gevent_process import run_patched

PASSWORD = "correct horse battery"


def hash_parameters(encoded: str) -> argon2.Parameters:
    return argon2.extract_parameters(encoded.removeprefix("argon2"))


def test_hash_is_argon2_and_verifies_only_its_password() -> None:
    hasher = Argon2PasswordHasher()
    encoded = hasher.encode(PASSWORD, "some-random-salt")
    assert encoded.startswith("argon2$argon2id$")
    assert hasher.verify(PASSWORD, encoded)
    assert not hasher.verify("wrong", encoded)


@pytest.mark.django_db
def test_hash_with_other_parameters_is_replaced_at_the_next_sign_in(
    settings: Settings,
) -> None:
    settings.PASSWORD_HASHERS = ["accounts.authentication.passwords.hashers.Argon2PasswordHasher"]
    expensive = argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=2).hash(PASSWORD)
    user = User.objects.create(email="jane@shop.example", password=f"argon2{expensive}")
    assert not user.check_password("wrong")
    assert user.password == f"argon2{expensive}"
    assert user.check_password(PASSWORD)
    user.refresh_from_db()
    # The minimum cost that OWASP recommends.
    parameters = hash_parameters(user.password)
    costs = (parameters.time_cost, parameters.memory_cost, parameters.parallelism)
    assert costs == (2, 19 * 1024, 1)
    assert check_password(PASSWORD, user.password)


def test_hashing_does_not_block_other_requests_of_the_worker(tmp_path: Path) -> None:
    assert int(run_patched("tests.accounts.authentication.gevent_hashing", tmp_path)) > 0
