import os
import subprocess
import sys
from pathlib import Path

from accounts.hashers import Argon2PasswordHasher
from tests.servers.product import ROOT


def test_a_hash_is_argon2_and_verifies_its_password_alone() -> None:
    hasher = Argon2PasswordHasher()
    encoded = hasher.encode("correct horse battery", "a-salt-of-its-own")
    assert encoded.startswith("argon2$argon2id$")
    assert hasher.verify("correct horse battery", encoded)
    assert not hasher.verify("wrong", encoded)


def test_other_requests_of_the_worker_go_on_while_a_password_is_hashed(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.accounts.gevent_hashing"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert int(ended.stdout) > 0
