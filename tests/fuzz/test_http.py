"""Any bytes over a socket to the product that runs: each request gets one clean answer, costs what
the answer says, and tells nothing of anybody else."""

import pytest
from hypothesis import strategies as st

from tests.fuzz.answers import Answer, assert_of_the_api, converse, read_answers
from tests.fuzz.conftest import Fuzzed
from tests.fuzz.effort import explore
from tests.fuzz.http import Request, is_of_the_api, requests, valid_calls
from tests.fuzz.verdicts import assert_consistent

pytestmark = pytest.mark.process

FRAMING = {"content-length", "transfer-encoding"}
changes = st.lists(
    st.tuples(
        st.integers(0, 400),
        st.one_of(
            st.binary(max_size=3),
            st.sampled_from(
                [b"\r\n", b"\n", b"\r", b"\0", b": ", b" ", b"\t", b"\xff", b"chunked"]
            ),
        ),
        st.integers(0, 3),
    ),
    max_size=4,
)


def assert_sound(fuzzed: Fuzzed, answers: list[Answer], balance: int) -> None:
    """What holds of whatever comes back: nobody's secret, no crash, and the price that was told."""
    price = 0
    for answer in answers:
        assert answer.status < 500
        whole = answer.body + repr(answer.headers).encode()
        for secret in (fuzzed.key, fuzzed.harbours_key, "arbour", "Traceback"):
            assert secret.encode() not in whole
        if answer.all_named("x-credits-cost"):
            price += int(answer.header("x-credits-cost"))
            assert answer.header("x-credits-remaining") == f"{balance - price}"
    assert fuzzed.balance() == balance - price


def assert_result(answer: Answer) -> None:
    result = answer.document
    is_repeated = answer.header("idempotent-replayed") == "true"
    charged = 0 if is_repeated else result["credits"]["charged"]
    is_free = result["sandbox"] or result["verdict"] == "unknown"
    assert answer.header("x-credits-cost") == f"{charged}"
    assert result["credits"]["charged"] == (0 if is_free else 1)
    if not result["sandbox"]:
        assert_consistent(result)


def test_any_request_gets_one_clean_answer(fuzzed: Fuzzed) -> None:
    def any_request(request: Request) -> None:
        balance, is_head = fuzzed.balance(), request.method == "HEAD"
        received = converse(fuzzed.site, [request.wire(fuzzed.key)])
        answers = read_answers(received, is_head=is_head)
        assert_sound(fuzzed, answers, balance)
        named = {name.lower() for name, _ in request.headers}
        # What its length does not count is the next request, or the beginning of one.
        assert len(answers) == 1 or (answers and named & FRAMING)
        if is_of_the_api(request.target):
            assert_of_the_api(answers[0], is_head=is_head)
            if answers[0].all_named("x-credits-cost"):
                assert_result(answers[0])

    explore(any_request, quick=60, request=requests)


def test_any_bytes_get_clean_answers(fuzzed: Fuzzed) -> None:
    def any_bytes(request: Request, changes: list[tuple[int, bytes, int]], cut: int) -> None:
        wire = request.wire(fuzzed.key)
        for place, put, length in changes:
            wire = wire[:place] + put + wire[place + length :]
        balance = fuzzed.balance()
        answers = read_answers(converse(fuzzed.site, [wire[:cut]]))
        assert_sound(fuzzed, answers, balance)
        for answer in answers:
            if answer.status == 400:
                assert_of_the_api(answer)

    cuts = st.one_of(st.just(100_000), st.integers(0, 500))
    explore(any_bytes, quick=30, request=valid_calls, changes=changes, cut=cuts)


def test_requests_on_one_connection_are_answered_in_their_order(fuzzed: Fuzzed) -> None:
    def any_row(row: list[Request], size: int) -> None:
        wire = b"".join(
            request.with_header("X-Request-Id", f"number-{place}").wire(fuzzed.key)
            for place, request in enumerate(row)
        )
        balance = fuzzed.balance()
        pieces = [wire[start : start + size] for start in range(0, len(wire), size)]
        answers = read_answers(converse(fuzzed.site, pieces))
        assert_sound(fuzzed, answers, balance)
        assert [one.header("x-request-id") for one in answers] == [
            f"number-{place}" for place in range(len(row))
        ]

    explore(
        any_row,
        quick=8,
        row=st.lists(valid_calls, min_size=1, max_size=4),
        size=st.sampled_from([7, 100, 1000, 100_000]),
    )
