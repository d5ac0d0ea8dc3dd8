from django.http import HttpRequest


class IdentifiedRequest(HttpRequest):
    id: str
    ip: str
    refusal: str
    in_access_log: bool
