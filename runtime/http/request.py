"""What every request carries once IdentifyRequestMiddleware has seen it."""

from django.http import HttpRequest


class IdentifiedRequest(HttpRequest):
    id: str
    # The client's address, behind as many proxies as are trusted.
    ip: str
    # The error code of a refusal, for the access log.
    refusal: str
    # Whether the access log has its record already.
    in_access_log: bool
