"""Path converters: a malformed id is a 404 without a database query."""

from django.urls.converters import StringConverter


class PublicId(StringConverter):
    regex = "[a-z]{3}_[A-Za-z0-9]{20}"


class RequestId(StringConverter):
    regex = "[A-Za-z0-9_-]{8,64}"


class Token(StringConverter):
    regex = "[A-Za-z0-9_-]{43}"
