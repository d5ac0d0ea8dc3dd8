"""How many connections a web worker accepts per iteration of its event loop."""

import pytest

from config.server.worker import LoadAwareServer
from runtime.http.load_shedding import concurrency_limit


@pytest.mark.parametrize(("concurrent_requests", "accepted"), [(0, 1), (3, 1), (40, 11), (256, 65)])
def test_busy_worker_accepts_more_connections_per_loop(
    monkeypatch: pytest.MonkeyPatch, concurrent_requests: int, accepted: int
) -> None:
    monkeypatch.setattr(concurrency_limit, "in_progress", concurrent_requests)
    server = LoadAwareServer(("127.0.0.1", 0), handle=lambda *_: None)
    # gunicorn sets it.
    server.max_accept = 1
    assert server.max_accept == accepted
