"""What the table of a metered call shows, and what has to be reached."""

from collections.abc import Callable
from concurrent.futures import Executor

from tests.bench import endurance
from tests.bench.api import (
    REFUSALS,
    ROUNDS,
    Contenders,
    Round,
    contenders,
    measure_round,
    statements_per_call,
    warm_up,
)
from tests.bench.load import percentile
from tests.bench.table import Line


def measure(executor: Executor, tell: Callable[[str], None]) -> list[Line]:
    with contenders() as all_of_them:
        warm_up(executor, all_of_them)
        rounds: list[Round] = []
        for number in range(1, ROUNDS + 1):
            rounds.append(measure_round(executor, all_of_them))
            tell(f"Round {number} of {ROUNDS} is done.")
        lines = _lines(rounds)
        lines += _once(executor, all_of_them, tell)
    return lines


def _lines(rounds: list[Round]) -> list[Line]:
    def line(label: str, value: Callable[[Round], float], **target: float) -> Line:
        return Line(label, [value(one) for one in rounds], **target)

    def rate(kind: str, than: str = "empty") -> Callable[[Round], float]:
        return lambda one: one[kind].rate / one[than].rate

    def cpu(kind: str) -> Callable[[Round], float]:
        return lambda one: one[kind].cpu_per_request / one["empty"].cpu_per_request

    return [
        line("an empty view: requests/s", lambda one: one["empty"].rate),
        line("validate, 200 accounts: against it", rate("many accounts"), at_least=0.25),
        line(
            "validate, one account: against 200 accounts",
            rate("one account", "many accounts"),
            at_least=0.9,
        ),
        line(
            "CPU of app, PostgreSQL and Redis: times the empty view's",
            cpu("many accounts"),
            at_most=3.5,
        ),
        line("embedded, 200 accounts: against the empty view", rate("embedded"), at_least=0.15),
        line("embedded, CPU: times the empty view's", cpu("embedded")),
        line("validate: p50, ms", lambda one: one["many accounts"].outcome.percentile(50) * 1000),
        line("validate: p99, ms", lambda one: one["many accounts"].outcome.percentile(99) * 1000),
        line("at half the rate: p99, times p50", lambda one: one["half the rate"].tail, at_most=5),
        *(line(f"{kind}: against the empty view", rate(kind), at_least=0.5) for kind in REFUSALS),
        *(
            Line(
                f"{others}: p99 of all rounds, times what it is without",
                [_tail(rounds, kind) / _tail(rounds, "alone")],
                at_most=1.5,
            )
            for others, kind in (
                ("another's 6,000 calls a minute", "beside a burst"),
                ("others' refused calls at half the top rate", "beside a flood"),
            )
        ),
        line("64 calls waiting for DNS: rate kept", rate("beside DNS", "before DNS"), at_least=0.8),
        line("the load generator, cores", lambda one: one["many accounts"].outcome.generator_share),
    ]


def _tail(rounds: list[Round], kind: str) -> float:
    return percentile([one[kind].outcome for one in rounds], 99)


def _once(executor: Executor, contenders: Contenders, tell: Callable[[str], None]) -> list[Line]:
    statements = statements_per_call(executor, contenders["product"])
    tell("100,000 calls over 50,000 domains…")
    halfway, at_the_end = endurance.measure(executor, contenders["product"])
    return [
        Line("SQL statements a call", [statements], at_most=2),
        Line("a worker after 100,000 calls over 50,000 domains, MB", [at_the_end], at_most=120),
        Line("the same, times what it was after 50,000", [at_the_end / halfway], at_most=1.1),
    ]
