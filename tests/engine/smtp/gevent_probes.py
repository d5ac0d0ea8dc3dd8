"""Run by test_connect.py: ask the server whose port is in DATA_DIR from greenlets."""

# ruff: noqa: E402
from gevent import monkey

monkey.patch_all()

import os
from pathlib import Path

import gevent

from engine.smtp.connect import MailTarget
from tests.engine.smtp.asking import probe
from tests.servers.smtp_server import SmtpServer

server = SmtpServer({}, int(Path(os.environ["DATA_DIR"], "port").read_text()))
# The last two servers trickle bytes instead of a TLS handshake, and of a reply to RCPT.
probes = [*[("127.0.0.1", b"nothing")] * 20, ("127.0.0.2", b"\x16\x03"), ("127.0.0.3", b"RCPT")]
greenlets = [
    gevent.spawn(probe, server, MailTarget("mx.example", address), impatient_after=command)
    for address, command in probes
]
for greenlet in greenlets:
    conversation = greenlet.get().conversation
    print(conversation.outcome, conversation.stage, conversation.is_encrypted)
