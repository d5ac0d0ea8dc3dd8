"""Classify the replies of mail servers.

Only a refusal of the recipient that names the mailbox, and nothing else, says that it's gone. Any
word about the sender, a policy, or a limit makes it unclear.
"""

import re
from collections.abc import Callable
from enum import StrEnum

from engine.domain_data import read_data_file
from engine.smtp.reply_text import prepare, read_code, read_status


class ReplyClass(StrEnum):
    ACCEPTED = "accepted"
    GONE = "gone"
    DISABLED = "disabled"
    FULL = "full"
    GREYLISTED = "greylisted"
    REFUSED_US = "refused_us"
    TEMPORARY = "temporary"
    # The host never takes mail (RFC 7504).
    NO_MAIL = "no_mail"
    UNCLEAR = "unclear"


# They say something about the mailbox.
DEFINITE = frozenset({ReplyClass.GONE, ReplyClass.DISABLED, ReplyClass.FULL})

# Their customers' own filters answer "User unknown".
_CARRIERS = frozenset({"docomo", "kddi", "softbank"})
_GONE_STATUSES = frozenset({"5.1.1", "5.1.3", "5.1.6", "5.1.10"})
_SENDER_STATUSES = frozenset({"5.1.7", "5.1.8"})
# With these, the words decide.
_OPEN_STATUSES = frozenset(
    (
        *("", "5.0.0", "5.0.1", "5.1.0", "5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"),
        *("5.2.0", "5.2.1", "5.3.0", "5.4.1", "5.5.0", "5.5.1", "5.5.2"),
    )
)
_GONE_CODES = frozenset({501, 511, 521, *range(550, 555)})
_DENIED_BY_DIRECTORY = "recipient address rejected: access denied"


def _read_words() -> dict[str, re.Pattern[str]]:
    groups: dict[str, list[str]] = {}
    for line in read_data_file("smtp_reply_words").entries:
        if line.endswith(":") and line[:-1].isalpha():
            words = groups.setdefault(line[:-1], [])
        else:
            words.append(line)
    return {name: re.compile("|".join(words)) for name, words in groups.items()}


_WORDS = _read_words()
_LETTERS = re.compile("[a-z]{3,}")
# A local part of these words may be a reason.
_VOCABULARY = {word for words in _WORDS.values() for word in _LETTERS.findall(words.pattern)}


def classify(stage: str, reply: bytes | str, provider: str | None, local_part: str) -> ReplyClass:
    """Return what a reply says. `stage` is where it came: connect, ehlo, starttls, mail, rcpt."""
    text = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
    code = read_code(text)
    if code is None:
        return ReplyClass.UNCLEAR
    is_telling = not _VOCABULARY.isdisjoint(_LETTERS.findall(local_part.lower()))
    status, words = read_status(text, code), prepare(text, local_part, is_telling=is_telling)

    def has(name: str) -> bool:
        return _WORDS[name].search(words) is not None

    if stage != "rcpt":
        return _before_recipient(code, has)
    if 200 <= code <= 299:
        return ReplyClass.ACCEPTED if code in (250, 251) else ReplyClass.UNCLEAR
    if 400 <= code <= 499:
        return _temporary(code, status, words, has)
    if 500 <= code <= 599:
        return _permanent(code, status, words, has, provider)
    return ReplyClass.UNCLEAR


def _before_recipient(code: int, has: Callable[[str], bool]) -> ReplyClass:
    """Nothing is known of the mailbox, whatever the text says."""
    if 200 <= code <= 399:
        return ReplyClass.ACCEPTED
    if code == 521:
        return ReplyClass.NO_MAIL
    if has("grey"):
        return ReplyClass.GREYLISTED
    if code >= 500 or has("us"):
        return ReplyClass.REFUSED_US
    return ReplyClass.TEMPORARY


def _temporary(code: int, status: str, words: str, has: Callable[[str], bool]) -> ReplyClass:
    is_full = status == "4.2.2" or (
        has("full") and "system" not in words and "insufficient disk" not in words
    )
    if is_full and not has("us") and not has("rate") and status != "4.4.5":
        return ReplyClass.FULL
    if has("grey"):
        return ReplyClass.GREYLISTED
    if has("us") or (status.startswith("4.7.") and status != "4.7.1"):
        return ReplyClass.REFUSED_US
    is_open = code in (450, 451) and status in ("", "4.7.1", "4.2.0")
    if is_open and has("later") and not has("rate"):
        return ReplyClass.GREYLISTED
    return ReplyClass.TEMPORARY


def _permanent(  # noqa: PLR0911 - a table of rules
    code: int, status: str, words: str, has: Callable[[str], bool], provider: str | None
) -> ReplyClass:
    if _is_full(status, words, has):
        return ReplyClass.FULL
    if code == 556:
        return ReplyClass.NO_MAIL
    if has("grey"):
        return ReplyClass.GREYLISTED
    is_open = status in _OPEN_STATUSES
    if provider in _CARRIERS and (has("gone") or status in _GONE_STATUSES):
        return ReplyClass.UNCLEAR
    if provider == "microsoft_365" and status == "5.4.1" and _DENIED_BY_DIRECTORY in words:
        return ReplyClass.GONE
    if status.startswith(("5.6.", "5.7.")) or has("us"):
        return ReplyClass.REFUSED_US
    if has("rate"):
        return ReplyClass.TEMPORARY
    if is_open and has("disabled"):
        is_for_now = "temporar" in words or re.search(r"currently .*(unavailable|disabled)", words)
        return ReplyClass.TEMPORARY if is_for_now else ReplyClass.DISABLED
    if is_open and has("gone"):
        is_later = has("later") and status not in _GONE_STATUSES
        return ReplyClass.TEMPORARY if is_later else ReplyClass.GONE
    if has("later"):
        return ReplyClass.TEMPORARY
    if status == "5.2.2":
        return ReplyClass.FULL
    if status in _GONE_STATUSES and code in _GONE_CODES:
        return ReplyClass.GONE
    return ReplyClass.REFUSED_US if status in _SENDER_STATUSES else ReplyClass.UNCLEAR


def _is_full(status: str, words: str, has: Callable[[str], bool]) -> bool:
    if not has("full") or (has("rate") and "messages on the server" not in words):
        return False
    if any(word in words for word in ("submission", "sending", "message size", "spam", "sender")):
        return False
    names = ("mailbox", "email quota", "mail quota", "over quota")
    return not status.startswith("5.7.") or any(name in words for name in names)
