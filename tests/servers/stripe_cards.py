"""The part of the fake Stripe that saves cards and charges them while the customer is away."""

import itertools
import threading
from collections.abc import Callable
from typing import Any

StripeObject = dict[str, Any]


class InvalidRequest(Exception):
    pass


class CardDeclined(Exception):
    """Raised with Stripe's code, and the payment that was declined."""

    def __init__(self, code: str, intent: StripeObject) -> None:
        super().__init__(code)
        self.code, self.intent = code, intent


class FakeCards:
    def __init__(self) -> None:
        self._card_numbers = itertools.count(1)
        self._lock = threading.Lock()
        self.customers: dict[str, StripeObject] = {}
        self.cards: dict[str, StripeObject] = {}
        self.detached: list[str] = []
        self.setups: dict[str, StripeObject] = {}
        self.intents: dict[str, StripeObject] = {}
        # Ids of the payments that charged a card, in order.
        self.charged: list[str] = []
        # The code with which every card is declined.
        self.decline = ""
        # Actions on payments that take effect, but whose responses are lost: create, confirm.
        self.lost: set[str] = set()
        # Called before a payment is confirmed.
        self.on_confirm: Callable[[], object] = lambda: None
        # Called with the action on a payment that took effect, before its response is sent.
        self.before_response: Callable[[str], object] = lambda action: None

    def reset_cards(self) -> None:
        for calls in (self.detached, self.charged, self.lost):
            calls.clear()
        self.intents.clear()
        self.decline = ""
        self.on_confirm = lambda: None

    def new_card(self, customer: str, **details: Any) -> StripeObject:
        card_id = f"pm_{next(self._card_numbers):08}"
        card = {"brand": "visa", "last4": "4242", "exp_month": 8, "exp_year": 2030, **details}
        method = {"id": card_id, "object": "payment_method", "customer": customer, "card": card}
        self.cards[card_id] = method
        return method

    def set_up(self, session: StripeObject, **details: Any) -> StripeObject:
        """Enter a card on a Checkout page, and return the finished session."""
        card = self.new_card(session["customer"], **details)
        setup_id = f"seti_{card['id'][3:]}"
        self.setups[setup_id] = {"id": setup_id, "object": "setup_intent", "payment_method": card}
        return {**session, "status": "complete", "payment_status": "no_payment_required"} | {
            "setup_intent": setup_id
        }

    def check_session(self, params: StripeObject) -> None:
        data = params.get("payment_intent_data", {})
        if data.get("setup_future_usage") and not params.get("customer"):
            raise InvalidRequest("A card is saved for a customer.")

    def pay_once(self, session: StripeObject) -> str:
        """Pay with a new card, which is saved if the session asks for it, and return the payment.

        Cards that aren't saved belong to no customer.
        """
        intent_id = f"pi_once_{next(self._card_numbers):08}"
        is_saved = session.get("payment_intent_data", {}).get("setup_future_usage")
        card = self.new_card(session["customer"]) if is_saved else self.new_card("")
        self.intents[intent_id] = {
            "id": intent_id,
            "object": "payment_intent",
            "payment_method": card,
        }
        return intent_id

    def handle_cards(self, method: str, path: str, params: StripeObject) -> StripeObject | None:
        """Return None for a path that isn't about cards."""
        kind, _, rest = path.removeprefix("/v1/").partition("/")
        name, _, action = rest.partition("/")
        if kind == "customers":
            return self._create_customer(params)
        if kind == "setup_intents":
            return self.setups[name]
        if kind == "payment_methods":
            return self._detach(name)
        if kind == "payment_intents":
            with self._lock:
                return self._handle_intent(method, name, action, params)
        return None

    def _create_customer(self, params: StripeObject) -> StripeObject:
        customer = {**params, "id": f"cus_{next(self._card_numbers):08}", "object": "customer"}
        self.customers[customer["id"]] = customer
        return customer

    def _detach(self, name: str) -> StripeObject:
        card = self.cards.get(name)
        if card is None or card["customer"] is None:
            raise InvalidRequest("The payment method is not attached to a customer.")
        card["customer"] = None
        self.detached.append(name)
        return card

    def _handle_intent(
        self, method: str, name: str, action: str, params: StripeObject
    ) -> StripeObject:
        if not name:
            return self._create_intent(params)
        if method == "GET":
            return self.intents[name]
        change = self._confirm if action == "confirm" else self._cancel
        return change(self.intents[name])

    def loses(self, path: str) -> bool:
        """Return whether the response to this request is lost."""
        action = "create" if path.endswith("/payment_intents") else path.rpartition("/")[2]
        self.before_response(action)
        return action in self.lost

    def _create_intent(self, params: StripeObject) -> StripeObject:
        card = self.cards.get(params["payment_method"])
        if card is None or card["customer"] != params.get("customer"):
            raise InvalidRequest("The payment method does not belong to the customer.")
        intent_id = f"pi_auto_{next(self._card_numbers):08}"
        self.intents[intent_id] = {
            **params,
            "id": intent_id,
            "object": "payment_intent",
            "amount": int(params["amount"]),
            "status": "requires_confirmation",
            "last_payment_error": None,
        }
        return self.intents[intent_id]

    def _confirm(self, intent: StripeObject) -> StripeObject:
        self.on_confirm()
        if intent["status"] != "requires_confirmation":
            raise InvalidRequest("This payment can't be confirmed in its status.")
        if self.decline:
            intent["status"] = "requires_payment_method"
            intent["last_payment_error"] = {"code": self.decline, "type": "card_error"}
            raise CardDeclined(self.decline, intent)
        intent |= {"status": "succeeded", "amount_received": intent["amount"]}
        self.charged.append(intent["id"])
        return intent

    def _cancel(self, intent: StripeObject) -> StripeObject:
        if intent["status"] not in ("requires_confirmation", "requires_payment_method"):
            raise InvalidRequest("This payment can't be canceled in its status.")
        intent["status"] = "canceled"
        return intent
