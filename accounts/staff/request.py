"""The type of requests in the admin."""

from typing import cast

from django.http import HttpRequest

from accounts.models import User
from runtime.http.request import IdentifiedRequest


class StaffRequest(IdentifiedRequest):
    """A request of a signed-in staff user. `StaffSite.admin_view` guarantees this."""

    user: User


def staff_request(request: HttpRequest) -> StaffRequest:
    """Narrow the type of a request where Django's signature is an HttpRequest."""
    return cast(StaffRequest, request)
