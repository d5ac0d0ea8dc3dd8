"""Path converters: a malformed id is a 404 without a database query."""


class PublicId:
    regex = "[a-z]{3}_[A-Za-z0-9]{20}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class RequestId(PublicId):
    regex = "[A-Za-z0-9_-]{8,64}"


class Token(PublicId):
    regex = "[A-Za-z0-9_-]{43}"
