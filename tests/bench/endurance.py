"""Measure a web worker's memory after 100,000 calls over 50,000 domains."""

from concurrent.futures import Executor

from tests.bench.api import CALLERS, Contender, validate, worker_megabytes
from tests.bench.load import Load, generate

CALLS, DOMAINS, BATCH_SIZE = 100_000, 50_000, 10_000


def measure(executor: Executor, contender: Contender) -> tuple[float, float]:
    """Return the size of the largest worker in MB, after half of the calls and after all of them.

    The first half contains each domain once.
    """
    halfway = 0.0
    for start in range(0, CALLS, BATCH_SIZE):
        requests = tuple(_request(contender, number) for number in range(start, start + BATCH_SIZE))
        load = Load(contender.address, requests, CALLERS, seconds=600, max_requests=BATCH_SIZE)
        executor.submit(generate, load).result()
        if start + BATCH_SIZE == CALLS // 2:
            halfway = max(worker_megabytes(contender))
    return halfway, max(worker_megabytes(contender))


def _request(contender: Contender, number: int) -> bytes:
    secret = contender.secrets[number % len(contender.secrets)]
    return validate(number, secret, f"endurance{number % DOMAINS}.com")
