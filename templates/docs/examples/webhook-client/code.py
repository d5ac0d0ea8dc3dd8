import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from emailvalidation import webhooks


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = webhooks.verify(body, self.headers, os.environ["WEBHOOK_SECRET"])
            print(event.type, event.id, flush=True)
            self.send_response(204)
        except webhooks.InvalidSignature:
            self.send_response(400)
        self.end_headers()


server = HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
print("Listening on port", server.server_port, flush=True)
server.serve_forever()
