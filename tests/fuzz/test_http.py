"""Arbitrary bytes sent to a running product.

Each request gets one well-formed response, costs what the response says, and reveals nothing about
other customers.
"""

import pytest
from hypothesis import strategies as st

from tests.fuzz.conftest import FuzzedProduct
from tests.fuzz.exploration import explore
from tests.fuzz.http_requests import Request, is_api_path, requests, valid_calls
from tests.fuzz.http_responses import HttpResponse, assert_api_response, exchange, read_responses
from tests.fuzz.verdicts import assert_consistent

pytestmark = [pytest.mark.process, pytest.mark.proof]

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


def assert_responses(fuzzed: FuzzedProduct, responses: list[HttpResponse], balance: int) -> None:
    """Assert that no response crashed or leaks a secret, and that the stated price was charged."""
    price = 0
    for response in responses:
        assert response.status < 500
        content = response.body + repr(response.headers).encode()
        for secret in (fuzzed.key, fuzzed.other_key, "arbour", "Traceback"):
            assert secret.encode() not in content
        if response.header_values("x-credits-cost"):
            price += int(response.header("x-credits-cost"))
            assert response.header("x-credits-remaining") == f"{balance - price}"
    assert fuzzed.balance() == balance - price


def assert_result(response: HttpResponse) -> None:
    result = response.document
    is_repeated = response.header("idempotent-replayed") == "true"
    charged = 0 if is_repeated else result["credits"]["charged"]
    is_free = result["sandbox"] or result["verdict"] == "unknown"
    assert response.header("x-credits-cost") == f"{charged}"
    assert result["credits"]["charged"] == (0 if is_free else 1)
    if not result["sandbox"]:
        assert_consistent(result)


def test_any_request_gets_one_well_formed_response(fuzzed: FuzzedProduct) -> None:
    def any_request(request: Request) -> None:
        balance, is_head = fuzzed.balance(), request.method == "HEAD"
        received = exchange(fuzzed.site, [request.wire(fuzzed.key)])
        responses = read_responses(received, is_head=is_head)
        assert_responses(fuzzed, responses, balance)
        names = {name.lower() for name, _ in request.headers}
        # Bytes beyond the declared length are the next request, or the start of one.
        assert len(responses) == 1 or (responses and names & FRAMING)
        if is_api_path(request.target):
            assert_api_response(responses[0], is_head=is_head)
            if responses[0].header_values("x-credits-cost"):
                assert_result(responses[0])

    explore(any_request, quick=60, request=requests)


def test_arbitrary_bytes_get_well_formed_responses(fuzzed: FuzzedProduct) -> None:
    def any_bytes(request: Request, changes: list[tuple[int, bytes, int]], cut: int) -> None:
        wire = request.wire(fuzzed.key)
        for position, inserted, removed in changes:
            wire = wire[:position] + inserted + wire[position + removed :]
        balance = fuzzed.balance()
        responses = read_responses(exchange(fuzzed.site, [wire[:cut]]))
        assert_responses(fuzzed, responses, balance)
        for response in responses:
            if response.status == 400:
                assert_api_response(response)

    cuts = st.one_of(st.just(100_000), st.integers(0, 500))
    explore(any_bytes, quick=30, request=valid_calls, changes=changes, cut=cuts)


def test_pipelined_requests_are_answered_in_order(fuzzed: FuzzedProduct) -> None:
    def any_pipeline(pipeline: list[Request], size: int) -> None:
        wire = b"".join(
            request.with_header("X-Request-Id", f"number-{index}").wire(fuzzed.key)
            for index, request in enumerate(pipeline)
        )
        balance = fuzzed.balance()
        pieces = [wire[start : start + size] for start in range(0, len(wire), size)]
        responses = read_responses(exchange(fuzzed.site, pieces))
        assert_responses(fuzzed, responses, balance)
        assert [response.header("x-request-id") for response in responses] == [
            f"number-{index}" for index in range(len(pipeline))
        ]

    explore(
        any_pipeline,
        quick=8,
        pipeline=st.lists(valid_calls, min_size=1, max_size=4),
        size=st.sampled_from([7, 100, 1000, 100_000]),
    )
