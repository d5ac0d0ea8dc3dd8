"""Store results, so that a response that was lost in transit can be read again.

A result is JSON, compressed with a typical result as the dictionary, and encrypted. The results of
a batch share a row.
"""

import zlib
from base64 import b64decode
from binascii import b2a_base64
from collections.abc import Iterable
from typing import Any, Protocol

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from accounts.models import Account
from engine import CHECKS
from runtime.database.batches import delete_in_batches
from runtime.database.raw_sql import BulkInsert
from runtime.encryption import DecryptionFailed, decrypt_bytes, encrypt_bytes
from validation.addresses import address_hash
from validation.ids import BATCH_PREFIX
from validation.models import LogEntry, StoredResult
from validation.models.replays import ReplayQuerySet
from validation.request_log.writer import Caller

# Rare strings first: matches near the end take fewer bits. Changing it loses the stored results.
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
# Just larger than the dictionary: a larger window takes longer to prepare.
_WINDOW_BITS, _MEMORY_LEVEL, _FAST = 12, 5, 2
# Copied for each result: faster than reading the dictionary again.
_compressor = zlib.compressobj(
    _FAST, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY
)


class StorableValidation(Protocol):
    id: str
    caller: Caller
    idempotency_key: str | None

    held: int

    @property
    def cost(self) -> int: ...

    @property
    def json(self) -> bytes:
        """Return the result without its credits and closing brace."""


def inserts_for(validations: Iterable[StorableValidation]) -> list[BulkInsert]:
    """Return the INSERT to run with the charge, if any.

    An account that stores no requests only stores what an Idempotency-Key may return.
    """
    rows = [
        _row(validation)
        for validation in validations
        if validation.idempotency_key is not None or stores_results(validation.caller.account)
    ]
    return [StoredResult.objects.bulk_insert(rows)] if rows else []


def insert_pending(validation: StorableValidation) -> BulkInsert:
    """Store the result of any account: another process finishes it, and the caller reads it."""
    return StoredResult.objects.bulk_insert([_row(validation)])


def _row(validation: StorableValidation) -> tuple[str, int, str]:
    return validation.id, validation.caller.account.pk, pack(render(validation))


def inserts_for_batch(
    account: Account, batch_id: str, validations: Iterable[StorableValidation]
) -> list[BulkInsert]:
    if not stores_results(account):
        return []
    packed = pack(b"[%b]" % b",".join(map(render, validations)))
    return [StoredResult.objects.bulk_insert([(batch_id, account.pk, packed)])]


def render(validation: StorableValidation) -> bytes:
    """Return the result without the balance: with_balance adds it."""
    credits = b'{"charged":%d,"held":%d}' % (validation.cost, validation.held)
    return b'%b,"credits":%b}' % (validation.json, credits)


def with_balance(result: bytes, balance: int) -> bytes:
    return b'%b,"remaining":%d}}' % (result[: -len(b"}}")], balance)


def find_result(account: Account, result_id: str, *, balance: int) -> dict[str, Any] | None:
    """Return the result, with the present balance, if it is stored and can be read."""
    stored = StoredResult.objects.find(account, result_id)
    results = unpack(stored.packed) if stored else []
    document = next((result for result in results if result["id"] == result_id), None)
    if document is not None:
        # Results of an earlier release don't have later fields.
        document.setdefault("lookalike_of", None)
        document["checks"] = {**dict.fromkeys(CHECKS), **document["checks"]}
        # The balance after the charge isn't stored: the same statement computed it.
        charged, held = document["credits"]["charged"], document["credits"].get("held", 0)
        document["credits"] = {"charged": charged, "held": held, "remaining": balance}
    return document


def erase_results(email: str, requests: QuerySet[LogEntry], replays: ReplayQuerySet) -> None:
    """Erase the address's results and responses. Batches keep their other results.

    Call it outside a transaction.
    """
    of_batches = Q(result_id__startswith=BATCH_PREFIX)
    delete_in_batches(StoredResult.objects.of_requests(requests))
    delete_in_batches(replays.exclude(of_batches).responses())
    # If an account stores no requests, only replays find its batches.
    batches = (
        StoredResult.objects.of_batches_with(requests),
        replays.filter(of_batches).responses(),
    )
    for batch_id in {row.pk for rows in batches for row in rows.only("pk")}:
        _erase_from_batch(batch_id, address_hash(email))


@transaction.atomic
def _erase_from_batch(batch_id: str, erased: str) -> None:
    """Rewrite the batch's row, or delete it if no other result can be read."""
    row = StoredResult.objects.filter(pk=batch_id)
    # Locked, because another erasure may rewrite it at the same time.
    for stored in row.select_for_update():
        results = unpack(stored.packed)
        remaining = [each for each in results if address_hash(each["email"]) != erased]
        if remaining:
            row.update(packed=pack(orjson.dumps(remaining)))
        else:
            row.delete()


def stores_results(account: Account) -> bool:
    return bool(settings.RESULT_RETENTION_HOURS and account.log_retention_days)


def pack(result: bytes) -> str:
    compressor = _compressor.copy()
    compressed = compressor.compress(result) + compressor.flush()
    return b2a_base64(encrypt_bytes(compressed), newline=False).decode()


def unpack(packed: str) -> list[dict[str, Any]]:
    body = unpack_bytes(packed)
    stored = orjson.loads(body) if body else []
    if isinstance(stored, dict):
        # The response to a batch repeats the results of duplicates.
        stored = stored.get("results", [stored])
    return [result for result in stored if result.pop("duplicate_of", None) is None]


def unpack_bytes(packed: str) -> bytes | None:
    """Return None for another dictionary, or a SECRET_KEY that was removed."""
    try:
        return zlib.decompressobj(zdict=_DICTIONARY).decompress(decrypt_bytes(b64decode(packed)))
    except (DecryptionFailed, zlib.error):
        return None
