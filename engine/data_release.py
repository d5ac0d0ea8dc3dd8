"""A release of the domain data: an Ed25519 signature, and the data files as compressed JSON."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from engine.domain_data import DATA_FILES, DOMAIN_DATA, DomainData

SIGNATURE_BYTES = 64
# A release that shrinks a file below this share of its size is treated as broken.
MIN_SIZE_RATIO = 0.8


class ReleaseRefused(Exception):
    pass


@dataclass(frozen=True)
class DataRelease:
    created_at: datetime
    # By name, as in engine/data.
    files: Mapping[str, str]

    def seal(self, key: Ed25519PrivateKey) -> bytes:
        document = {"created_at": self.created_at.isoformat(), "files": dict(self.files)}
        content = gzip.compress(json.dumps(document).encode())
        return key.sign(content) + content

    @classmethod
    def open(cls, archive: bytes, key: Ed25519PublicKey) -> "DataRelease":
        """Raise ReleaseRefused if the archive isn't signed with the key, or isn't complete."""
        signature, content = archive[:SIGNATURE_BYTES], archive[SIGNATURE_BYTES:]
        try:
            key.verify(signature, content)
        except InvalidSignature:
            raise ReleaseRefused("It isn't signed with the key of DOMAIN_DATA_KEY.") from None
        document = json.loads(gzip.decompress(content))
        release = cls(datetime.fromisoformat(document["created_at"]), document["files"])
        if missing := set(DATA_FILES) ^ release.files.keys():
            names = ", ".join(sorted(missing))
            raise ReleaseRefused(f"It is for another version of the product: {names}.")
        return release

    def require_plausible(self) -> None:
        """Raise ReleaseRefused if it can't be used, or would do harm."""
        data = DomainData(self.files)
        try:
            data.load()
        except Exception as error:
            raise ReleaseRefused(f"Its data can't be read: {error!r}.") from error
        if data.version < DOMAIN_DATA.version:
            raise ReleaseRefused(f"Its data of {data.version} are older than the current ones.")
        for name in DATA_FILES:
            now, before = len(data.read(name).entries), len(DOMAIN_DATA.read(name).entries)
            if now < before * MIN_SIZE_RATIO:
                raise ReleaseRefused(f"{name} has {now:,} entries instead of {before:,}.")
        # `data.free_providers` has no disposable ones.
        providers = DOMAIN_DATA.free_providers.intersection(data.read("free_providers").entries)
        legitimate = {*data.typo_targets, *data.never_disposable, *providers}
        if wrong := sorted(filter(data.is_disposable, legitimate)):
            raise ReleaseRefused(f"It lists {', '.join(wrong[:5])} as disposable.")
