"""What a web worker has in memory after 100,000 calls over 50,000 domains."""

from concurrent.futures import Executor

from tests.bench.api import CALLERS, Contender, megabytes_of_workers, validate
from tests.bench.load import Load, generate

CALLS, DOMAINS, A_STEP = 100_000, 50_000, 10_000


def measure(executor: Executor, contender: Contender) -> tuple[float, float]:
    """The largest worker, in MB: after half of the calls, which saw each domain once; and after
    all of them."""
    halfway = 0.0
    for start in range(0, CALLS, A_STEP):
        requests = tuple(_request(contender, number) for number in range(start, start + A_STEP))
        load = Load(contender.address, requests, CALLERS, seconds=600, most=A_STEP)
        executor.submit(generate, load).result()
        if start + A_STEP == CALLS // 2:
            halfway = max(megabytes_of_workers(contender))
    return halfway, max(megabytes_of_workers(contender))


def _request(contender: Contender, number: int) -> bytes:
    secret = contender.secrets[number % len(contender.secrets)]
    return validate(number, secret, f"endurance{number % DOMAINS}.com")
