"""The form of what stands in URLs: what has another one is no page, and asks no database."""


class PublicId:
    regex = "[a-z]{3}_[A-Za-z0-9]{20}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class RequestId(PublicId):
    """Ours, or a client's own."""

    regex = "[A-Za-z0-9_-]{8,64}"


class Token(PublicId):
    regex = "[A-Za-z0-9_-]{43}"
