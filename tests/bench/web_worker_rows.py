"""The table that compares web workers, with the targets for the chosen one."""

from tests.bench.table import Round, Row, Value
from tests.bench.web_worker import DNS_SECONDS

CHOSEN = "product"


def _rate(measurement: str) -> Value:
    return lambda outcomes, contender: outcomes[contender][measurement].rate


def _rate_relative_to_gthread(outcomes: Round, contender: str) -> float:
    return outcomes[contender]["busy"].rate / outcomes["gthread"]["busy"].rate


def _rate_relative_to_undisturbed(measurement: str) -> Value:
    def value(outcomes: Round, contender: str) -> float:
        own = outcomes[contender]
        return own[measurement].rate / own[f"before {measurement}"].rate

    return value


def _milliseconds(measurement: str, percent: int) -> Value:
    return lambda outcomes, contender: 1000 * outcomes[contender][measurement].percentile(percent)


def _p99_relative_to_undisturbed(measurement: str) -> Value:
    def value(outcomes: Round, contender: str) -> float:
        own = outcomes[contender]
        return own[measurement].percentile(99) / own[f"before {measurement}"].percentile(99)

    return value


def _slow_call_relative_to_resolver(outcomes: Round, contender: str) -> float:
    return outcomes[contender]["calls to slow DNS"].percentile(99) / DNS_SECONDS


def _generator_share(outcomes: Round, contender: str) -> float:
    return outcomes[contender]["busy"].generator_share


ROWS = [
    Row("16 callers: requests/s", _rate("busy")),
    Row("16 callers: requests/s, relative to gthread", _rate_relative_to_gthread, at_least=0.9),
    Row("16 callers: p50, ms", _milliseconds("busy", 50)),
    Row("16 callers: p99, ms", _milliseconds("busy", 99)),
    Row("16 callers: CPU of the load generator, cores", _generator_share),
    Row("4 callers, undisturbed: requests/s", _rate("before silent")),
    Row("4 callers, undisturbed: p50, ms", _milliseconds("before silent", 50)),
    Row("4 callers, undisturbed: p99, ms", _milliseconds("before silent", 99)),
    Row(
        "200 silent connections: rate relative to undisturbed",
        _rate_relative_to_undisturbed("silent"),
        at_least=0.8,
    ),
    Row(
        "200 silent connections: p99 relative to undisturbed",
        _p99_relative_to_undisturbed("silent"),
    ),
    Row(
        "200 half-sent heads: rate relative to undisturbed",
        _rate_relative_to_undisturbed("half-sent"),
        at_least=0.8,
    ),
    Row(
        "200 half-sent heads: p99 relative to undisturbed",
        _p99_relative_to_undisturbed("half-sent"),
    ),
    Row(
        "64 calls waiting for DNS: rate relative to undisturbed",
        _rate_relative_to_undisturbed("DNS"),
        at_least=0.8,
    ),
    Row(
        "64 calls waiting for DNS: p99 relative to undisturbed", _p99_relative_to_undisturbed("DNS")
    ),
    Row(
        "64 calls waiting for DNS: their p99 relative to the resolver's delay",
        _slow_call_relative_to_resolver,
    ),
]
