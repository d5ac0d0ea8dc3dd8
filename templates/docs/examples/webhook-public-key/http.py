import base64
import json
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

KEY = base64.b64decode(os.environ["WEBHOOK_PUBLIC_KEY"].removeprefix("whpk_"))
PUBLIC_KEY = Ed25519PublicKey.from_public_bytes(KEY)


def is_genuine(headers, body):
    sent_at = headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > 300:
        return False
    signed = f"{headers['webhook-id']}.{sent_at}.".encode() + body
    for signature in headers.get("webhook-signature", "").split():
        version, _, value = signature.partition(",")
        if version == "v1a":
            try:
                PUBLIC_KEY.verify(base64.b64decode(value), signed)
                return True
            except (InvalidSignature, ValueError):
                continue
    return False


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if is_genuine(self.headers, body):
            event = json.loads(body)
            print(event["type"], event["id"], flush=True)
            self.send_response(204)
        else:
            self.send_response(400)
        self.end_headers()


server = HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
print("Listening on port", server.server_port, flush=True)
server.serve_forever()
