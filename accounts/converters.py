"""The form of what stands in URLs: what has another one is no page, and asks no database."""


class PublicId:
    regex = "[a-z]{3}_[A-Za-z0-9]{20}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class Token(PublicId):
    regex = "[A-Za-z0-9_-]{43}"
