"""A WebAuthn authenticator in Python, for tests of passkey pages that need no browser."""

import json
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2 import cbor
from fido2.utils import websafe_decode, websafe_encode

HOST = "testserver"
# WebAuthn, section 6.1: user present and verified; attested credential data included.
PRESENT_AND_VERIFIED, ATTACHED = 0x05, 0x40


@dataclass
class PasskeyDevice:
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    id: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    user: str = ""
    origin: str = f"http://{HOST}"
    # Zero, because synced passkeys don't count signatures.
    counter: int = 0

    def register(self, options: dict[str, Any]) -> str:
        registration = options["publicKey"]
        self.user = registration["user"]["id"]
        public = cbor.encode(self._public_key())
        credential = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + public
        data = self._data(PRESENT_AND_VERIFIED | ATTACHED) + credential
        attestation = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client("webauthn.create", registration["challenge"])
        return self._credential(
            clientDataJSON=websafe_encode(client), attestationObject=websafe_encode(attestation)
        )

    def sign_in(self, options: dict[str, Any]) -> str:
        data = self._data(PRESENT_AND_VERIFIED)
        client = self._client("webauthn.get", options["publicKey"]["challenge"])
        signed = self.key.sign(data + sha256(client).digest(), ec.ECDSA(SHA256()))
        return self._credential(
            clientDataJSON=websafe_encode(client),
            authenticatorData=websafe_encode(data),
            signature=websafe_encode(signed),
            userHandle=websafe_encode(websafe_decode(self.user)),
        )

    def _public_key(self) -> dict[int, Any]:
        """RFC 9053, section 7.1: ES256 on the curve P-256."""
        numbers = self.key.public_key().public_numbers()
        x, y = (number.to_bytes(32, "big") for number in (numbers.x, numbers.y))
        return {1: 2, 3: -7, -1: 1, -2: x, -3: y}

    def _data(self, flags: int) -> bytes:
        return sha256(HOST.encode()).digest() + bytes([flags]) + self.counter.to_bytes(4, "big")

    def _credential(self, **response: str) -> str:
        name = websafe_encode(self.id)
        credential = {"id": name, "rawId": name, "type": "public-key", "response": response}
        return json.dumps({**credential, "clientExtensionResults": {}})

    def _client(self, kind: str, challenge: str) -> bytes:
        client_data = {"type": kind, "challenge": challenge, "origin": self.origin}
        return json.dumps(client_data).encode()
