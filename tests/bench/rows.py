"""Fill a database with a request log of any length and with totals of five years.

One account has three fifths of the log and by far the most totals, like a service's largest
customer. Rows are inserted in the order of time, as in production. Indexes are built afterwards,
which is faster.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.models import Account, User
from accounts.services import open_account, run_email_confirmed_hooks
from apikeys.models import ApiKey
from credits.models import UseDay, UseHour
from credits.models.usage import BUCKETS
from credits.services import grant
from validation.models import LogEntry
from validation.partitions import LOG

OTHERS, OTHERS_WITH_TOTALS, KEYS = 200, 50, 20
DAYS_OF_LOG, DAYS_OF_REFUSALS, DAYS_OF_HOURS, DAYS_OF_TOTALS = 30, 90, 396, 5 * 365
RARE_DOMAIN, COMMON_DOMAIN = "rare.example", "common-0.example"

_LOG = """
INSERT INTO validation_logentry (account_id, key_id, at, request_id, status, refusal, path, cost,
    duration_ms, replayed, sandbox, result_id, address, address_hash, domain, verdict, reason,
    score, checks)
SELECT CASE WHEN n % 5 < 3 THEN %(large)s ELSE (%(others)s::bigint[])[1 + n % %(count)s] END,
    CASE WHEN n % 5 < 3 THEN (%(keys)s::bigint[])[1 + (h / 1000 % 20)] END,
    %(start)s::timestamptz + (n::float / %(rows)s) * %(days)s * interval '1 day',
    'req_' || substr(md5(n::text), 1, 20),
    CASE WHEN h % 100 = 0 THEN 402 ELSE 200 END,
    CASE WHEN h % 100 = 0 THEN 'insufficient_credits' ELSE '' END,
    '/v1/validate', CASE WHEN h % 100 = 0 THEN 0 ELSE 1 END, h % 300, false, false,
    'val_' || upper(substr(md5(n::text), 1, 26)),
    chr(97 + (h % 26)::int) || '***@' || d, md5('address' || (h % 1000003)::text), d,
    CASE WHEN h % 100 = 0 THEN '' WHEN h % 1000 < 20 THEN 'unknown'
        WHEN h % 1000 < 100 THEN 'undeliverable' WHEN h % 1000 < 200 THEN 'risky'
        ELSE 'deliverable' END,
    CASE WHEN h % 100 = 0 THEN '' WHEN h % 1000 < 20 THEN 'dns_timeout'
        WHEN h % 1000 < 100 THEN 'domain_not_found' WHEN h % 100000 = 101 THEN 'mixed_script'
        WHEN h % 1000 < 200 THEN 'role_account' ELSE 'domain_accepts_mail' END,
    80, 0
FROM (
    SELECT n, h, CASE WHEN h % 100000 = 7 THEN 'rare.example'
        WHEN h % 10 < 7 THEN 'common-' || (h % 5) || '.example'
        ELSE 'shop-' || (h % 50000) || '.example' END AS d
    FROM (
        SELECT n, abs(hashint8(n)::bigint) AS h FROM generate_series(%(first)s, %(last)s) n
    ) hashed
) rows
"""
_USE = """
INSERT INTO {table}
    (account_id, key_id, {period}, verdict, calls, credits, duration_ms, {buckets}{extra})
SELECT account, nullif(key, 0), at{cast}, verdict, 1000, 10, 30000, 500, 300, 100, 50, 40, 10{value}
FROM generate_series(%(start)s::timestamptz, %(end)s::timestamptz, %(step)s::interval) at,
    unnest(%(accounts)s::bigint[]) account,
    unnest(%(keys)s::bigint[]) key,
    unnest(ARRAY['deliverable', 'risky', 'undeliverable', 'unknown']) verdict
"""
_REFUSALS = """
INSERT INTO apikeys_refusalhour (account_id, key_id, hour, code, calls)
SELECT account, nullif(key, 0), at, code, 7
FROM generate_series(%(start)s::timestamptz, %(end)s::timestamptz, %(step)s::interval) at,
    unnest(%(accounts)s::bigint[]) account,
    unnest(%(keys)s::bigint[]) key,
    unnest(ARRAY['rate_limit_exceeded', 'insufficient_credits']) code
"""


@dataclass
class BenchmarkData:
    user: User
    account: Account
    keys: list[ApiKey]
    others: list[Account]


def make_accounts() -> BenchmarkData:
    user = User.objects.create_user("large@shop.example", "unused password")
    account = open_account(user=user, name="A large shop")
    run_email_confirmed_hooks(user=user)
    grant(account=account, amount=1_000_000, reason="Benchmark", actor=None)
    keys = [
        ApiKey.objects.create_key(account=account, name=f"Server {number}")[0]
        for number in range(KEYS)
    ]
    ApiKey.objects.update(last_used_at=timezone.now())
    others = [Account.objects.create(name=f"Shop {number}") for number in range(OTHERS)]
    return BenchmarkData(user, account, keys, others)


def fill_totals(data: BenchmarkData) -> None:
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    keys = [0, *(key.pk for key in data.keys)]
    end = midnight - timedelta(hours=1)
    hours: dict[str, Any] = {
        "end": end,
        "start": midnight - timedelta(days=DAYS_OF_HOURS),
        "step": "1 hour",
    }
    days: dict[str, Any] = {
        "end": end,
        "start": midnight - timedelta(days=DAYS_OF_TOTALS),
        "step": "1 day",
    }
    large = {"accounts": [data.account.pk], "keys": keys}
    others = {
        "accounts": [account.pk for account in data.others[:OTHERS_WITH_TOTALS]],
        "keys": [0],
    }
    for accounts in (large, others):
        _fill_use(UseHour, "hour", "", (", summed", ", true"), {**hours, **accounts})
        _fill_use(UseDay, "day", "::date", ("", ""), {**days, **accounts})
        refusals = {**hours, **accounts, "start": midnight - timedelta(days=DAYS_OF_REFUSALS)}
        with connection.cursor() as cursor:
            cursor.execute(_REFUSALS, refusals)
    _analyze()


def _fill_use(
    model: type[UseHour | UseDay],
    period: str,
    cast: str,
    extra: tuple[str, str],
    parameters: dict[str, Any],
) -> None:
    statement = _USE.format(
        table=model._meta.db_table,
        period=period,
        cast=cast,
        buckets=", ".join(BUCKETS),
        extra=extra[0],
        value=extra[1],
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


def fill_log(data: BenchmarkData, first: int, last: int, rows: int) -> None:
    """Insert the rows from `first` to `last` of a log of `rows` rows that ends now."""
    _partition_by_day()
    parameters: dict[str, Any] = {
        "large": data.account.pk,
        "others": [account.pk for account in data.others],
        "count": len(data.others),
        "keys": [key.pk for key in data.keys],
        "start": timezone.now() - timedelta(days=DAYS_OF_LOG) + timedelta(minutes=10),
        "days": DAYS_OF_LOG,
        "rows": rows,
        "first": first,
        "last": last,
    }
    with _without_indexes(LogEntry._meta.db_table), connection.cursor() as cursor:
        # Escape the modulo operators.
        statement = _LOG.replace(" % ", " %% ")
        cursor.execute(statement, parameters)
    _analyze()


def _partition_by_day() -> None:
    """Create a partition for each day of the log."""
    today = timezone.now().date()
    for age in range(-1, DAYS_OF_LOG + 1):
        LOG.create_partition(today - timedelta(days=age))


@contextmanager
def _without_indexes(table: str) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s "
            "AND indexname NOT IN (SELECT conname FROM pg_constraint)",
            [table],
        )
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f'DROP INDEX "{name}"')
        yield
        for _, definition in indexes:
            # "ONLY" would leave the partitions out.
            cursor.execute(definition.replace(" ON ONLY ", " ON "))


def _analyze() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
