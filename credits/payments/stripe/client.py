import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import stripe
from django.conf import settings

from credits.payments import PaymentUnavailable
from runtime.metrics.client import Counter, initialize

logger = logging.getLogger(__name__)

TIMEOUT_SECONDS = 10

requests = Counter(
    "emailvalidation_payment_provider_requests",
    "Requests to Stripe, by outcome: answered, failed.",
    ("outcome",),
)
initialize(requests, ("answered", "failed"))

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def handle_stripe_errors(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Log errors of Stripe's library, and raise PaymentUnavailable."""

    @wraps(function)
    def wrapper(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        try:
            result = function(*args, **kwargs)
            requests.labels("answered").inc()
            return result
        except stripe.StripeError as error:
            requests.labels("failed").inc()
            # The error's text may contain customer data.
            logger.warning("Stripe request failed: %s %s", type(error).__name__, error.request_id)
            raise PaymentUnavailable(
                "The payment service isn't responding, and nothing was charged. Try again in a "
                "minute."
            ) from None

    return wrapper


def get_client() -> Any:
    return stripe.StripeClient(
        settings.STRIPE_SECRET_KEY,
        base_addresses={"api": settings.STRIPE_API_URL},
        max_network_retries=1,
        http_client=stripe.RequestsClient(timeout=TIMEOUT_SECONDS),
    )
