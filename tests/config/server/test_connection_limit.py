"""How many connections a web worker lets in at a time."""

import pytest

from config.server.worker import Door
from runtime.http.load_shedding import concurrency_limit


@pytest.mark.parametrize(("in_hand", "let_in"), [(0, 1), (3, 1), (40, 11), (256, 65)])
def test_the_busier_a_worker_is_the_more_it_lets_in_when_it_looks(
    monkeypatch: pytest.MonkeyPatch, in_hand: int, let_in: int
) -> None:
    monkeypatch.setattr(concurrency_limit, "in_hand", in_hand)
    door = Door(("127.0.0.1", 0), handle=lambda *_: None)
    # As gunicorn does.
    door.max_accept = 1
    assert door.max_accept == let_in
