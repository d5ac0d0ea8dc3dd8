"""Read the SHA-256 digest of a body (RFC 9530, formerly RFC 3230)."""

import base64
import binascii
import re
from collections.abc import Mapping

from apikeys.errors import ApiError

# As `sha-256=:…:` or, in Digest, `sha-256=…`.
_SHA256 = re.compile(r"(?:^|,)\s*sha-256\s*=\s*:?([A-Za-z0-9+/=]*)", re.IGNORECASE)
_SIZE = 32


def read_sha256(meta: Mapping[str, str]) -> str:
    """Return the digest in hexadecimal, or raise if the header is missing or malformed."""
    found = _SHA256.search(f"{meta.get('HTTP_CONTENT_DIGEST', '')},{meta.get('HTTP_DIGEST', '')}")
    if found is None:
        message = "Content-Digest is missing. Send the SHA-256 digest of the part: sha-256=:…:"
        raise ApiError("missing_field", message, param="Content-Digest")
    try:
        digest = base64.b64decode(found[1], validate=True)
    except binascii.Error:
        digest = b""
    if len(digest) != _SIZE:
        message = "Content-Digest must have a SHA-256 digest in Base64 between colons."
        raise ApiError("invalid_field", message, param="Content-Digest")
    return digest.hex()
