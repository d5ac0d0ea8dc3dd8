from pathlib import Path

from accounts.hashers import Argon2PasswordHasher
from tests.servers.patched import run_patched


def test_a_hash_is_argon2_and_verifies_its_password_alone() -> None:
    hasher = Argon2PasswordHasher()
    encoded = hasher.encode("correct horse battery", "a-salt-of-its-own")
    assert encoded.startswith("argon2$argon2id$")
    assert hasher.verify("correct horse battery", encoded)
    assert not hasher.verify("wrong", encoded)


def test_other_requests_of_the_worker_go_on_while_a_password_is_hashed(tmp_path: Path) -> None:
    assert int(run_patched("tests.accounts.gevent_hashing", tmp_path)) > 0
