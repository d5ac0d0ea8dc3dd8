"""The product's settings with the Sentry SDK, installed as its documentation says."""

from typing import Any

import sentry_sdk
from sentry_sdk.envelope import Envelope
from sentry_sdk.transport import Transport

from tests.settings import *  # noqa: F403

ROOT_URLCONF = "tests.apikeys.rest.tracing.urls"


class TransportInMemory(Transport):
    def __init__(self) -> None:
        super().__init__()
        self.events: list[Any] = []

    def capture_envelope(self, envelope: Envelope) -> None:
        self.events += [item.payload.json for item in envelope.items if item.payload.json]


SENTRY = TransportInMemory()
sentry_sdk.init("https://key@sentry.example/1", traces_sample_rate=1.0, transport=SENTRY)
