"""A fake Stripe on loopback: the API that the product uses, a payment page and signed events."""

import hashlib
import hmac
import itertools
import json
import threading
import time
import urllib.request
from contextlib import closing
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from tests.servers.quiet_handler import QuietHandler
from tests.servers.stripe_cards import CardDeclined, FakeCards, InvalidRequest

SECRET_KEY = "sk_test_invented"
WEBHOOK_SECRET = "whsec_invented"

StripeObject = dict[str, Any]
# The status and body of a response.
Response = tuple[int, StripeObject]


class FakeStripe(FakeCards):
    def __init__(self) -> None:
        super().__init__()
        self._numbers = itertools.count(1)
        # By id, with the parameters the product sent.
        self.sessions: dict[str, StripeObject] = {}
        self.subscriptions: dict[str, StripeObject] = {}
        self.invoice_payments: dict[str, str] = {}
        self.refunds: list[StripeObject] = []
        self.cancelled: list[str] = []
        self.expired: list[str] = []
        # By Idempotency-Key.
        self.idempotent_responses: dict[str, Response] = {}
        # Seconds it takes to create a Checkout session.
        self.delay = 0.0
        self.is_down = False
        # The URL to which `send` posts events.
        self.webhook = ""
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"stripe": self})
        )
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        # How often it looks whether to shut down, which `close` waits for.
        poll_seconds = 0.01
        threading.Thread(
            target=self._server.serve_forever, args=(poll_seconds,), daemon=True
        ).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def environment(self) -> dict[str, str]:
        return {
            "STRIPE_SECRET_KEY": SECRET_KEY,
            "STRIPE_WEBHOOK_SECRET": WEBHOOK_SECRET,
            "STRIPE_API_URL": self.url,
            "STRIPE_CHECKOUT_URL": self.url,
        }

    def new_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._numbers):08}"

    # --- Events -----------------------------------------------------------------------------------

    def find_session(self, order_id: str) -> StripeObject:
        sessions = [s for s in self.sessions.values() if s["client_reference_id"] == order_id]
        return sessions[-1]

    def pay(self, session: StripeObject) -> StripeObject:
        """Pay the session, or enter the card it saves, and return the event that reports it."""
        if session["mode"] == "setup":
            return self.event("checkout.session.completed", self.set_up(session))
        paid = {
            **session,
            "payment_status": "paid",
            "status": "complete",
            "customer": session["customer"] or "cus_1",
        }
        if session["mode"] == "subscription":
            paid["subscription"], paid["invoice"] = self.new_id("sub"), self.new_id("in")
            item = {"id": self.new_id("si"), "price": {"product": "prod_1"}}
            metadata = session["subscription_data"]["metadata"]
            self.subscriptions[paid["subscription"]] = {
                "items": {"data": [item]},
                "metadata": metadata,
                "default_payment_method": self.new_card(paid["customer"]),
            }
            self.invoice_payments[paid["invoice"]] = self.new_id("pi")
        else:
            paid["payment_intent"] = self.pay_once(paid)
        self.sessions[session["id"]] = paid
        return self.event("checkout.session.completed", paid)

    def expire(self, session: StripeObject) -> StripeObject:
        self.sessions[session["id"]]["status"] = "expired"
        return self.event("checkout.session.expired", {**session, "payment_status": "unpaid"})

    def renew(self, subscription: str, cents: int, **fields: Any) -> StripeObject:
        invoice = self.new_id("in")
        self.invoice_payments[invoice] = self.new_id("pi")
        metadata = self.subscriptions[subscription]["metadata"]
        details = {"subscription": subscription, "metadata": metadata}
        parent = {"subscription_details": details}
        return self.event(
            "invoice.paid",
            {
                "id": invoice,
                "billing_reason": "subscription_cycle",
                "amount_paid": cents,
                "parent": parent,
                **fields,
            },
        )

    def fail_to_renew(self, subscription: str) -> StripeObject:
        invoice = {**self.renew(subscription, 0)["data"]["object"], "amount_due": 1_500}
        return self.event("invoice.payment_failed", invoice)

    def refund(self, session: StripeObject, cents: int) -> StripeObject:
        paid = self.sessions[session["id"]]
        payment = paid.get("payment_intent") or self.invoice_payments[paid["invoice"]]
        metadata = {} if paid["mode"] == "subscription" else paid["metadata"]
        return self.refund_payment(payment, cents, customer=paid.get("customer"), metadata=metadata)

    def refund_payment(self, payment: str, cents: int, **fields: Any) -> StripeObject:
        charge = {"id": self.new_id("ch"), "payment_intent": payment, "amount_refunded": cents}
        return self.event("charge.refunded", {**charge, "metadata": {}, **fields})

    def event(self, kind: str, value: StripeObject) -> StripeObject:
        return {"id": self.new_id("evt"), "type": kind, "data": {"object": value}}

    def send(self, event: StripeObject) -> int:
        """Post the event to the webhook and return the status."""
        payload = json.dumps(event).encode()
        headers = {"Stripe-Signature": sign(payload), "Content-Type": "application/json"}
        request = urllib.request.Request(self.webhook, payload, headers)
        with urllib.request.urlopen(request, timeout=20) as response:
            return int(response.status)

    # --- API --------------------------------------------------------------------------------------

    def create_session(self, params: StripeObject) -> StripeObject:
        self.check_session(params)
        session_id = self.new_id("cs")
        free = {"unit_amount": "0", "currency": ""}
        price = params["line_items"][0]["price_data"] if "line_items" in params else free
        self.sessions[session_id] = {
            **params,
            "id": session_id,
            "object": "checkout.session",
            "url": f"{self.url}/pay/{session_id}",
            "amount_total": int(price["unit_amount"]),
            "currency": price["currency"],
            "customer": params.get("customer"),
            "payment_status": "unpaid",
            "status": "open",
        }
        return self.sessions[session_id]

    def open_sessions(self, order_id: str) -> list[str]:
        return [
            session["id"]
            for session in list(self.sessions.values())
            if (session["client_reference_id"], session["status"]) == (order_id, "open")
        ]

    def handle(self, method: str, path: str, params: StripeObject) -> StripeObject:
        about_cards = self.handle_cards(method, path, params)
        if about_cards is not None:
            return about_cards
        kind, _, name = path.removeprefix("/v1/").partition("/")
        if (kind, name) == ("checkout", "sessions"):
            time.sleep(self.delay)
            return self.create_session(params)
        if kind == "checkout":
            session = self.sessions[name.split("/")[1]]
            if method == "POST":
                if session["status"] != "open":
                    raise InvalidRequest("Only open sessions can be expired.")
                session["status"] = "expired"
                self.expired.append(session["id"])
            return session
        if kind == "subscriptions":
            if method == "DELETE":
                self.cancelled.append(name)
            elif method == "POST":
                self.subscriptions[name]["asked"] = params
            return {**self.subscriptions.get(name, {}), "id": name, "object": "subscription"}
        if kind == "refunds":
            self.refunds.append(params)
            return {"id": self.new_id("re"), "object": "refund"}
        if kind == "invoice_payments":
            return {"object": "list", "data": self._payments(params)}
        raise KeyError(path)

    def _payments(self, params: StripeObject) -> list[StripeObject]:
        payment_intent = params.get("payment", {}).get("payment_intent")
        return [
            {
                "object": "invoice_payment",
                "invoice": invoice,
                "payment": {"type": "payment_intent", "payment_intent": payment},
            }
            for invoice, payment in self.invoice_payments.items()
            if payment == payment_intent or invoice == params.get("invoice")
        ]


def sign(payload: bytes, secret: str = WEBHOOK_SECRET, age: int = 0) -> str:
    timestamp = int(time.time()) - age
    signed = f"{timestamp}.".encode() + payload
    return f"t={timestamp},v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def fake_stripe() -> closing[FakeStripe]:
    return closing(FakeStripe())


class _Handler(QuietHandler):
    stripe: FakeStripe

    def do_GET(self) -> None:
        if self.path.startswith("/pay/"):
            self._show_payment_page(self.stripe.sessions[self.path.removeprefix("/pay/")])
        else:
            self._handle_api_call()

    def do_POST(self) -> None:
        if self.path.startswith("/pay/"):
            session = self.stripe.sessions[self.path.removeprefix("/pay/")]
            self.stripe.send(self.stripe.pay(session))
            self.send_response(303)
            self.send_header("Location", session["success_url"])
            self.end_headers()
        else:
            self._handle_api_call()

    def do_DELETE(self) -> None:
        self._handle_api_call()

    def _handle_api_call(self) -> None:
        body = self.read_body().decode()
        path, _, query = self.path.partition("?")
        params = _parse_nested(parse_qsl(body or query))
        key = self.headers.get("Idempotency-Key")
        if self.stripe.is_down:
            return self._send_json(503, {"error": {"message": "Try later", "type": "api_error"}})
        if self.headers.get("Authorization") != f"Bearer {SECRET_KEY}":
            return self._send_json(401, {"error": {"message": "No such key", "type": "api_error"}})
        if key is None or key not in self.stripe.idempotent_responses:
            key = key or self.stripe.new_id("key")
            # A copy, because a replayed response must not reflect later changes.
            response: Response = json.loads(json.dumps(self._respond(path, params)))
            self.stripe.idempotent_responses[key] = response
        if self.stripe.loses(path):
            self.close_connection = True
            return None
        return self._send_json(*self.stripe.idempotent_responses[key])

    def _respond(self, path: str, params: StripeObject) -> Response:
        try:
            return 200, self.stripe.handle(self.command, path, params)
        except InvalidRequest as refusal:
            return 400, {"error": {"type": "invalid_request_error", "message": str(refusal)}}
        except CardDeclined as decline:
            error = {"type": "card_error", "code": decline.code, "message": "Declined."}
            return 402, {"error": {**error, "payment_intent": decline.intent}}

    def _show_payment_page(self, session: StripeObject) -> None:
        page = (
            "<!doctype html><title>Pay</title><link rel=icon href='data:,'>"
            f"<h1>Pay {session['amount_total']}</h1>"
            f"<form method=post action=/pay/{session['id']}><button>Pay now</button></form>"
            f"<a href='{session['cancel_url']}'>Not now</a>"
        )
        self.reply(200, "text/html", page.encode())

    def _send_json(self, status: int, document: StripeObject) -> None:
        self.reply(status, "application/json", json.dumps(document).encode())


def _parse_nested(pairs: list[tuple[str, str]]) -> StripeObject:
    """Parse `a[b][0][c]=d`, the notation of Stripe's libraries."""
    root: StripeObject = {}
    for name, value in pairs:
        *parents, last = name.replace("]", "").split("[")
        place = root
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return dict(_convert_lists(root))


def _convert_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    converted = {name: _convert_lists(value) for name, value in value.items()}
    if converted and all(name.isdigit() for name in converted):
        return [converted[name] for name in sorted(converted, key=int)]
    return converted
