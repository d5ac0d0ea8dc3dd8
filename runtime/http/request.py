"""The attributes that IdentifyRequestMiddleware adds to every request."""

from django.http import HttpRequest


class IdentifiedRequest(HttpRequest):
    id: str
    # The client's address, as seen by the outermost trusted proxy.
    ip: str
    # The error code of a refusal, for the access log.
    refusal: str
    # Whether the access log already has this request's record.
    in_access_log: bool
