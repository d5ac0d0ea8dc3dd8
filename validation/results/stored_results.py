"""Store results, so that a response that was lost in transit can be read again.

A result is stored as its JSON: compressed, encrypted, and written in the statement that charges for
it. Most of the JSON is the same in all results, so compression starts from a typical one. That
takes 6 µs and leaves 150 to 250 of 1,250 bytes. The results of a batch are stored together, in a
row with the batch's id: one row takes a tenth of the time of a hundred.
"""

import zlib
from base64 import b64decode
from binascii import b2a_base64
from collections.abc import Iterable
from typing import Any, Protocol

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import Account
from runtime.database.batches import delete_in_batches
from runtime.database.raw_sql import BulkInsert
from runtime.encryption import DecryptionFailed, decrypt_bytes, encrypt_bytes
from validation.models import LogEntry, StoredResult
from validation.request_log.writer import Caller

# Rare strings first: zlib encodes matches near the end of the dictionary in fewer bits.
# Results that were stored with another dictionary can't be read: changing it loses those of a day.
_DICTIONARY = (
    b'"reason":"dns_timeout","reasons":["dns_timeout"],"score":null,"evidence":"dns"'
    b'"verdict":"unknown","reason":"dns_failure","retry_after_s":300"dns_failure"'
    b'"reserved_domain""domain_not_found""no_mail_server""null_mx""mailbox_not_found"'
    b'"verdict":"undeliverable","reason":"invalid_syntax","reasons":["invalid_syntax"],"score":0,'
    b'"evidence":"syntax","safe_to_send":false,"accept_for_signup":false,'
    b'"normalized":null,"canonical":null,"local_part":null,"tag":null,"domain":null,'
    b'"ascii_domain":null,"registrable_domain":null,"checks":{"syntax":false,"domain_exists":null,'
    b'"accepts_mail":null,"null_mx":null,"disposable":null,"free_provider":null,"relay":null,'
    b'"role_account":null,"no_reply":null,"has_tag":null,"reserved_domain":null,'
    b'"smtputf8_required":null,"mixed_script":null,"accept_all":null,'
    b'"syntax_error":{"code":"","message":"'
    b'"verdict":"risky","reason":"role_account""disposable""possible_typo""no_mx_record"'
    b'"score":35,"evidence":"dns","safe_to_send":false,"accept_for_signup":true,'
    b'{"provider":"other","fallback":null,"records":[{"preference":0,"host":"mail.'
    b'"spf":"none","dmarc":"none""smtp":null,"lists":{"disposable":"2026-'
    b'"provider":"microsoft_365",".mail.protection.outlook.com"}],"gateway":true'
    b'"provider":"google","fallback":null,"gateway":false,"ipv4":true,"records":['
    b'{"preference":1,"host":"aspmx.l.google.com"},{"preference":5,"host":"alt1.aspmx.l.google.com'
    b'"},{"preference":10,"host":"alt3.aspmx.l.google.com"}]}"gmail-smtp-in.l.google.com"'
    b'{"id":"val_01","created_at":"2026-11-20T18:30:00.123Z","sandbox":false,"email":"jane@gmail.'
    b'com","normalized":"","canonical":"","verdict":"deliverable","reason":"domain_accepts_mail",'
    b'"reasons":["domain_accepts_mail"],"score":85,"evidence":"dns","safe_to_send":null,'
    b'"accept_for_signup":true,"did_you_mean":null,"retry_after_s":null,"local_part":"","tag":null,'
    b'"domain":"","ascii_domain":"","registrable_domain":"","checks":{"syntax":true,'
    b'"domain_exists":true,"accepts_mail":true,"null_mx":false,"disposable":false,'
    b'"free_provider":false,"relay":false,"role_account":false,"no_reply":false,"has_tag":false,'
    b'"reserved_domain":false,"smtputf8_required":false,"mixed_script":false,"accept_all":null,'
    b'"mailbox_exists":null,"mailbox_full":null,"mailbox_disabled":null},"syntax_error":null,'
    b'"mx":{"provider":"other","fallback":null,"gateway":false,"ipv4":true,"records":['
    b'{"preference":10,"host":"mx.}]},"domain_auth":{"spf":"strict","dmarc":"reject"},"smtp":null,'
    b'"lists":{"disposable":"2026-11-20","disposable_by":null},"account_list":null,'
    b'"duration_ms":0,"dns_cached":true,"credits":{"charged":1}}'
)
# Larger than the dictionary. With more bits and memory, preparing a compressor takes most time.
_WINDOW_BITS, _MEMORY_LEVEL, _FAST = 12, 5, 2
# Copied, because a compressor that has read the dictionary is prepared faster than a new one.
_compressor = zlib.compressobj(
    _FAST, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY
)


class StorableValidation(Protocol):
    id: str
    caller: Caller

    @property
    def cost(self) -> int: ...

    def render(self) -> bytes:
        """Return the result's JSON without its credits."""


def inserts_for(validations: Iterable[StorableValidation]) -> list[BulkInsert]:
    """Return the INSERT to run in the transaction that charges the validations, if any.

    Nothing is stored for an account that stores no requests.
    """
    rows = [
        (validation.id, validation.caller.account.pk, _pack_validation(validation))
        for validation in validations
        if _stores_results(validation.caller.account)
    ]
    return [StoredResult.objects.bulk_insert(rows)] if rows else []


def inserts_for_batch(
    account: Account, batch_id: str, results: Iterable[tuple[bytes, int]]
) -> list[BulkInsert]:
    """Do the same for all results of a batch, in one row: each one's JSON, not closed, and cost."""
    if not _stores_results(account):
        return []
    packed = pack(b"[%b]" % b",".join(_document(json, cost) for json, cost in results))
    return [StoredResult.objects.bulk_insert([(batch_id, account.pk, packed)])]


def find_result(account: Account, result_id: str, *, balance: int) -> dict[str, Any] | None:
    """Return the document of the account's result, with today's balance, if it is still stored.

    A result of a SECRET_KEY that was removed, or of another dictionary, can't be read.
    """
    stored = StoredResult.objects.find(account, result_id)
    results = unpack(stored.packed) if stored else []
    document = next((result for result in results if result["id"] == result_id), None)
    if document is not None:
        # What was left right after the charge isn't stored: that statement computed it.
        document["credits"]["remaining"] = balance
    return document


def erase_results(requests: QuerySet[LogEntry]) -> None:
    """Erase the results of request log entries. Batches keep their other results.

    Call it outside a transaction.
    """
    delete_in_batches(StoredResult.objects.of_requests(requests))
    for batch_id in list(
        StoredResult.objects.of_batches_with(requests).values_list("pk", flat=True)
    ):
        erased = requests.filter(batch_id=batch_id).values_list("result_id", flat=True)
        _erase_from_batch(batch_id, set(erased))


@transaction.atomic
def _erase_from_batch(batch_id: str, erased: set[str]) -> None:
    """Rewrite the batch's row. A row without other results that can be read is deleted."""
    row = StoredResult.objects.filter(pk=batch_id)
    # Locked, because another erasure may rewrite it at the same time.
    for stored in row.select_for_update():
        remaining = [result for result in unpack(stored.packed) if result["id"] not in erased]
        if remaining:
            row.update(packed=pack(orjson.dumps(remaining)))
        else:
            row.delete()


def _stores_results(account: Account) -> bool:
    return bool(settings.RESULT_RETENTION_HOURS and account.log_retention_days)


def _pack_validation(validation: StorableValidation) -> str:
    return pack(_document(validation.render()[:-1], validation.cost))


def _document(json: bytes, cost: int) -> bytes:
    return b'%b,"credits":{"charged":%d}}' % (json, cost)


def pack(result: bytes) -> str:
    compressor = _compressor.copy()
    compressed = compressor.compress(result) + compressor.flush()
    return b2a_base64(encrypt_bytes(compressed), newline=False).decode()


def unpack(packed: str) -> list[dict[str, Any]]:
    """Return the results of a row: one, those of a batch, or none if they can't be read."""
    try:
        compressed = decrypt_bytes(b64decode(packed))
        stored = orjson.loads(zlib.decompressobj(zdict=_DICTIONARY).decompress(compressed))
    except (DecryptionFailed, zlib.error):
        return []
    return stored if isinstance(stored, list) else [stored]
