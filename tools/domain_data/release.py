"""Sign a release of this checkout's domain data: `python -m tools.domain_data.release KEY OUT`.

KEY is a file with a private key, which is created if it doesn't exist. The public key, for
DOMAIN_DATA_KEY, is printed.
"""

import sys
from base64 import b64decode, b64encode
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engine.data_release import DataRelease
from engine.domain_data import DATA_FILES, DATA_FOLDER


def main(key_file: Path, out: Path) -> None:
    if not key_file.exists():
        key_file.touch(mode=0o600)
        key_file.write_bytes(b64encode(Ed25519PrivateKey.generate().private_bytes_raw()) + b"\n")
    key = Ed25519PrivateKey.from_private_bytes(b64decode(key_file.read_bytes()))
    files = {name: (DATA_FOLDER / f"{name}.txt").read_text(encoding="utf-8") for name in DATA_FILES}
    out.write_bytes(DataRelease(datetime.now(UTC), files).seal(key))
    print(f"Public key: {b64encode(key.public_key().public_bytes_raw()).decode()}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
