"""Store results, so that a response that was lost in transit can be read again.

A result is JSON, compressed with a typical result as the dictionary, and encrypted. The results of
a batch share a row.
"""

import zlib
from base64 import b64decode
from binascii import b2a_base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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
from validation.validations import Validation

# Rare strings first: matches near the end take fewer bits. Line ends are for readers. Another text
# would lose the stored results.
_DICTIONARY = Path(__file__).with_name("dictionary.txt").read_bytes().replace(b"\n", b"")
# Just larger than the dictionary: a larger window takes longer to prepare.
_WINDOW_BITS, _MEMORY_LEVEL, _FAST = 12, 5, 2
# Copied for each result: faster than reading the dictionary again.
_compressor = zlib.compressobj(
    _FAST, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY
)


def inserts_for(validations: Iterable[Validation]) -> list[BulkInsert]:
    """Return the INSERT to run with the charge, if any.

    An account that stores no requests only stores what an Idempotency-Key may return.
    """
    rows = [
        _row(validation)
        for validation in validations
        if validation.idempotency_key is not None or stores_results(validation.caller.account)
    ]
    return [StoredResult.objects.bulk_insert(rows)] if rows else []


def insert_pending(validation: Validation) -> BulkInsert:
    """Store the result of any account: another process finishes it, and the caller reads it."""
    return StoredResult.objects.bulk_insert([_row(validation)])


def _row(validation: Validation) -> tuple[str, int, str]:
    return validation.id, validation.caller.account.pk, pack(render(validation))


def inserts_for_batch(
    account: Account, batch_id: str, validations: Iterable[Validation]
) -> list[BulkInsert]:
    if not stores_results(account):
        return []
    packed = pack(b"[%b]" % b",".join(map(render, validations)))
    return [StoredResult.objects.bulk_insert([(batch_id, account.pk, packed)])]


def render(validation: Validation) -> bytes:
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
