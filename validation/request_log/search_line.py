"""Read the search line of the request log: `verdict:risky shop.com`."""

import re

from accounts.models import Account
from engine import AddressParts, Verdict, parse_address
from validation.addresses import address_hash
from validation.ids import BATCH_ID, normalize_result_id
from validation.key_filter import PLAYGROUND
from validation.models import LogEntry
from validation.request_log.filters import REQUEST_ID, TIMES, LogFilter

# Quotes hold words together: key:"My server".
WORD = re.compile(r'(?:"[^"]*"|\S)+')


def read_search_line(
    text: str, account: Account, form: LogFilter
) -> tuple[dict[str, str], list[str]]:
    """Return the filters as parameters of the URL, and the words that weren't understood."""
    filters: dict[str, str] = {}
    words: dict[str, str] = {}
    not_understood = []
    for word in WORD.findall(text):
        name, _, value = word.partition(":")
        is_named = name.lower() in form.fields and name.lower() not in TIMES and value
        found = _read(name.lower(), value.strip('"'), form) if is_named else _guess(word, account)
        # A request has one verdict, so a second one isn't clear.
        if not found or found.keys() & filters.keys():
            not_understood.append(word)
        else:
            filters |= found
            words |= dict.fromkeys(found, word)
    invalid = LogFilter(filters, account).errors
    return filters, not_understood + [words[name] for name in invalid if name in words]


def _read(name: str, value: str, form: LogFilter) -> dict[str, str]:
    if name == "address":
        value = address_hash(value)
    elif name == "batch":
        value = normalize_result_id(value)
    elif name == "key":
        ids = [PLAYGROUND] if value.lower() == PLAYGROUND else []
        ids += [key.public_id for key in form.keys if key.name.casefold() == value.casefold()]
        # A name that several keys have is as unclear as one that none has.
        value = ids[0] if len(ids) == 1 else value
    elif name in {"verdict", "status", "reason"}:
        value = value.lower()
    return {name: value}


def _guess(word: str, account: Account) -> dict[str, str]:
    """Return the filter that a word without a name means."""
    lower, address = word.lower(), word[1:-1] if re.fullmatch('"[^"]+"', word) else word
    is_request_id = REQUEST_ID.fullmatch(word) is not None
    own = LogEntry.objects.retained_for(account).filter(request_id=word)
    guesses = {
        "batch": BATCH_ID.fullmatch(normalize_result_id(word)) and normalize_result_id(word),
        "request": is_request_id and (lower.startswith("req_") or own.exists()) and word,
        "address": (address != word or word.find("@") > 0) and address_hash(address),
        "verdict": lower in set(Verdict) and lower,
        "status": lower in LogFilter.STATUSES and lower,
        "reason": lower in LogFilter.ALL_REASONS and lower,
        "key": lower == PLAYGROUND and lower,
        "domain": isinstance(parse_address(f"x@{word.lstrip('@')}"), AddressParts) and lower,
    }
    return next(({name: value} for name, value in guesses.items() if value), {})
