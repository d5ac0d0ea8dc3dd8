from typing import cast

from django.http import HttpRequest

from accounts.models import User
from runtime.http.request import IdentifiedRequest


class StaffRequest(IdentifiedRequest):
    """A request that has passed `StaffSite.admin_view`."""

    user: User


def staff_request(request: HttpRequest) -> StaffRequest:
    """Narrow the type of Django's signatures."""
    return cast(StaffRequest, request)
