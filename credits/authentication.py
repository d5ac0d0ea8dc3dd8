"""The key of a request, and in the same query what this floor wants to know of its account."""

from apikeys.authentication import BearerAuthentication


class MeteredAuthentication(BearerAuthentication):
    """For views that cost credits."""

    related = ("account__wallet",)


class SubscriberAuthentication(BearerAuthentication):
    related = (
        "account__wallet",
        "account__subscription__plan",
        "account__subscription__next_plan",
    )
