from collections.abc import Iterator
from contextlib import contextmanager

from runtime.http.client_ip import current_ip


@contextmanager
def request_from(address: str) -> Iterator[None]:
    """Act as in a request from this address."""
    token = current_ip.set(address)
    try:
        yield
    finally:
        current_ip.reset(token)
