"""Read the codes of a reply, and prepare its text: what we sent must not decide."""

import re

_MAX_STATUS_POSITION, _MAX_LENGTH, _MAX_READ = 160, 600, 4000
_LINE = re.compile(r"(\d{3})(?:[ -]|$)")
_STATUS = re.compile(r"(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d.]\d)")
# Google's nosuchuser, overquotatemp.
_GOOGLE_REASON = re.compile(r"[?&]p=(\w+)")
_URL = re.compile(r"(?:https?://|www\.)\S+")
_IN_ANGLES = re.compile(r"<[^<>]*>")
_ADDRESS = re.compile(r"[^\s<>()\[\]\"',;:]{1,64}@[^\s<>()\[\]\"',;:]+")
_IN_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_IPV4 = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
_CODES = re.compile(r"(?m)^\s*\d{3}[ -]?|(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]\d)")
_IPV6 = re.compile(r"\b(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}\b", re.I)
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SHOWN_LENGTH = 200
# A shorter local part may be any word of the reply.
_MIN_NAME = 3
_SPACES = re.compile(r"\s+")


def read_code(text: str) -> int | None:
    """Return the code that all lines have."""
    codes = set()
    for line in text.strip("\r\n").split("\n")[:64]:
        match = _LINE.match(line.rstrip("\r"))
        codes.add(int(match[1]) if match else None)
    return codes.pop() if len(codes) == 1 else None


def read_status(text: str, code: int) -> str:
    """Return the enhanced status (RFC 3463), if there is one of the code's class."""
    for match in _STATUS.finditer(text[:_MAX_STATUS_POSITION]):
        if int(match[1]) == code // 100:
            return match[0]
    return ""


def prepare(text: str, local_part: str, *, is_telling: bool = False) -> str:
    """Return the words in lower case, without URLs, addresses, codes and the asked local part.

    A local part that could also be a reason, such as `spam`, is removed only where it is echoed.
    """
    words = text[:_MAX_READ].lower()
    words = _URL.sub(lambda match: " ".join(_GOOGLE_REASON.findall(match[0])), words)
    for pattern in (_IN_ANGLES, _ADDRESS, _IN_BRACKETS, _IPV4, _CODES):
        words = pattern.sub(" ", words)
    words = _SPACES.sub(" ", words).strip()
    if len(local_part) >= _MIN_NAME:
        name = re.escape(local_part.lower())
        quoted = rf"""(?:^|["'`(]){name}(?![\w-])"""
        bare = rf"(?<![\w-]){name}(?![\w-])"
        words = re.sub(quoted if is_telling else bare, " ", words)
    return _SPACES.sub(" ", words).strip()[:_MAX_LENGTH]


def redact(text: str, local_part: str) -> str:
    """Return a reply as customers and staff see it: one line, without addresses."""
    text = _ANSI.sub("", text[:_MAX_READ])
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    for pattern in (_ADDRESS, _IPV4, _IPV6):
        text = pattern.sub("…", text)
    if local_part:
        name = rf"(?<![\w-]){re.escape(local_part)}(?![\w-])"
        text = re.sub(name, "…", text, flags=re.I)
    return _SPACES.sub(" ", text).strip()[:_SHOWN_LENGTH]
