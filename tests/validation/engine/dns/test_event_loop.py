"""Lookups of one thread go on while others wait, and none of them is lost or kept waiting."""

import select
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.servers.dns import FakeDns
from validation.engine.check import Engine
from validation.engine.dns.slots import MAX_LOOKUPS_PER_OWNER
from validation.engine.dns.transport.event_loop import EventLoop, Poller, acquire
from validation.engine.lookups import look_up_all

pytestmark = pytest.mark.anywhere


def wait_for(connection: socket.socket, seconds: float) -> bool:
    poller = Poller()
    poller.register(connection.fileno(), select.POLLIN)
    return bool(poller.poll(1000 * seconds))


def test_results_come_as_soon_as_they_are_known() -> None:
    delays = [0.3, 0.0, 0.1]

    def sleep(seconds: float) -> float:
        Poller().poll(1000 * seconds)
        return seconds

    assert list(EventLoop().map(sleep, delays, at_once=3)) == sorted(delays)
    assert list(EventLoop().map(sleep, delays, at_once=1)) == delays


@pytest.mark.parametrize("at_once", [1, 3, 20])
def test_no_more_calls_run_than_allowed(at_once: int) -> None:
    running: set[int] = set()
    most = 0

    def run(number: int) -> int:
        nonlocal most
        running.add(number)
        most = max(most, len(running))
        Poller().poll(1)
        running.remove(number)
        return number

    assert sorted(EventLoop().map(run, range(10), at_once=at_once)) == list(range(10))
    assert most == min(at_once, 10)


def test_calls_that_never_wait_are_run() -> None:
    assert list(EventLoop().map(abs, range(-5, 0), at_once=2)) == [5, 4, 3, 2, 1]
    assert not list(EventLoop().map(abs, [], at_once=2))


def test_packet_that_arrived_in_time_counts_although_it_is_read_late() -> None:
    here, there = socket.socketpair(type=socket.SOCK_DGRAM)

    def run(number: int) -> bool:
        if number == 0:
            return wait_for(here, 0.01)
        there.send(b"reply")
        time.sleep(0.05)
        return True

    with here, there:
        loop = EventLoop()
        assert list(loop.map(run, range(2), at_once=2)) == [True, True]
        assert loop.lag >= 0.04


def test_call_without_a_packet_ends_in_time() -> None:
    here, there = socket.socketpair(type=socket.SOCK_DGRAM)
    with here, there:
        waits = EventLoop().map(lambda seconds: wait_for(here, seconds), [0.01], at_once=2)
        assert list(waits) == [False]


def test_error_ends_the_other_calls_too() -> None:
    ended = []

    def run(number: int) -> None:
        try:
            Poller().poll(10_000 if number else 1)
            raise LookupError
        finally:
            ended.append(number)

    with pytest.raises(LookupError):
        list(EventLoop().map(run, range(3), at_once=3))
    assert sorted(ended) == [0, 1, 2]


def test_lock_of_a_waiting_call_does_not_block_the_thread() -> None:
    lock, order = threading.Lock(), []

    def run(number: int) -> bool:
        if not acquire(lock, None if number < 2 else 0.001):
            return False
        order.append(number)
        Poller().poll(20)
        lock.release()
        return True

    assert sorted(EventLoop().map(run, range(3), at_once=3)) == [False, True, True]
    assert order == [0, 1]


def test_what_a_call_began_to_wait_for_can_be_awaited_anywhere() -> None:
    """A probe is started by one lookup, and finished by any other, in another thread even."""
    reader, writer = socket.socketpair()
    with reader, writer:

        def begin(_: int) -> Poller:
            poller = Poller()
            poller.register(reader.fileno(), select.POLLIN)
            return poller

        (poller,) = EventLoop().map(begin, [0], at_once=1)
        writer.send(b"reply")
        ready = [(reader.fileno(), select.POLLIN)]
        assert poller.poll(1000) == ready
        with ThreadPoolExecutor(1) as threads:
            assert threads.submit(poller.poll, 1000).result() == ready
        (found,) = EventLoop().map(lambda _: poller.poll(1000), [0], at_once=1)
        assert [descriptor for descriptor, _ in found] == [reader.fileno()]


def test_names_of_one_owner_wait_for_each_other_and_are_all_known(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    names = [f"n{number}.shop.com" for number in range(3 * MAX_LOOKUPS_PER_OWNER)]
    for name in names:
        fake_dns.add_mail_domain(name)
    routes = dict(look_up_all(patient_engine, [*names, *names], at_once=len(names)))
    assert all(route.accepts_mail for route in routes.values())
    assert routes.keys() == set(names)


def test_lookups_that_wait_for_the_same_probe_of_the_resolver_are_all_known(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    names = [f"gone{number}.com" for number in range(40)]
    routes = dict(look_up_all(patient_engine, names, at_once=40))
    assert {route.problem for route in routes.values()} == {"domain_not_found"}
    # One probe, not one for each.
    assert fake_dns.probes["gmail.com", "MX"] == 1
