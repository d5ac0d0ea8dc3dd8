import base64
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))


def is_genuine(headers, body):
    sent_at = headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > 300:
        return False
    signed = f"{headers['webhook-id']}.{sent_at}.".encode() + body
    digest = hmac.digest(SECRET, signed, "sha256")
    expected = b"v1," + base64.b64encode(digest)
    signatures = headers.get("webhook-signature", "").encode().split()
    return any(hmac.compare_digest(one, expected) for one in signatures)


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
