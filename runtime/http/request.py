from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse


class IdentifiedRequest(HttpRequest):
    id: str
    ip: str
    refusal: str
    in_access_log: bool


class Middleware:
    def __init__(self, get_response: Callable[[Any], HttpResponse]) -> None:
        self.get_response = get_response
