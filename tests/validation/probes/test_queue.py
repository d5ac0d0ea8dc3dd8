"""Whom processes ask next, how often, and when they stop asking."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account
from accounts.services import open_account
from runtime.encryption import encrypt
from tests.conftest import make_user
from tests.validation.probes.conftest import MailServers, run_queue
from validation.addresses import address_hash
from validation.models import MailHostPace, Probe, ProbeGroup
from validation.probes import groups
from validation.probes.egress import egresses, move_probes
from validation.probes.queue import ProbeQueue, Turn

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mail")]
ORGANIZATION = "shop.com"


def add_probe(account: Account, email: str = "jane@shop.com", **values: object) -> Probe:
    """Add a check without credits, so its result is check_failed whatever the answer."""
    egress = next(iter(egresses()))
    number = Probe.objects.count()
    probe = Probe(
        result_id=f"val_{number:026}",
        account=account,
        email=encrypt(email),
        address_hash=address_hash(email),
        domain=email.rpartition("@")[2],
        organization=ORGANIZATION,
        egress=egress,
        ends_at=timezone.now() + timedelta(hours=2),
    )
    for name, value in values.items():
        setattr(probe, name, value)
    MailHostPace.objects.ensure([(probe.organization, probe.egress)])
    probe.save()
    return probe


def claim() -> Turn:
    pace = MailHostPace.objects.claim()
    assert pace is not None
    pace.rate = 1e9
    return Turn(pace)


def test_accounts_take_turns(account: Account) -> None:
    other = open_account(user=make_user("other@store.example"))
    many = [add_probe(account, f"name{number}@shop.com") for number in range(30)]
    one = add_probe(other)
    turn = claim()
    first, second = turn.next_probe(), turn.next_probe()
    assert {first, second} == {many[0], one}


def test_organization_is_asked_by_one_process_at_a_time(account: Account) -> None:
    add_probe(account)
    turn = claim()
    assert MailHostPace.objects.claim() is None
    turn.release()
    assert MailHostPace.objects.claim() is not None


def test_conversations_keep_their_distance(account: Account) -> None:
    for number in range(5):
        add_probe(account, f"name{number}@shop.com")
    turn = claim()
    turn.pace.rate = 0.001
    assert turn.next_probe() is not None
    assert turn.next_probe() is None
    turn.release()
    # The distance also holds for the next process.
    assert MailHostPace.objects.claim() is None
    assert MailHostPace.objects.get().next_at > timezone.now() + timedelta(minutes=15)


def test_two_conversations_at_once_are_the_most(account: Account) -> None:
    probes = [add_probe(account, f"name{number}@shop.com") for number in range(3)]
    turn = claim()
    for probe in probes[:2]:
        assert turn.next_probe() == probe
        turn.in_progress.add(probe.pk)
    assert turn.next_probe() is None
    turn.in_progress.clear()
    assert turn.next_probe() == probes[2]


def test_refusals_slow_an_organization_down(account: Account) -> None:
    add_probe(account)
    pace = MailHostPace.objects.get()
    for minutes, rate in ((15, 0.5), (15, 0.25), (24 * 60, 0.125)):
        pace.record("554 5.7.1 Refused", refused_us=True)
        assert pace.rate == rate
        assert pace.cooling_until is not None
        cooling = pace.cooling_until - timezone.now()
        assert abs(cooling - timedelta(minutes=minutes)) < timedelta(seconds=30)
    assert not MailHostPace.objects.due().exists()
    pace.record("250 OK", refused_us=False)
    assert pace.refusals_in_row == 0
    assert pace.rate == pytest.approx(0.1375)
    for _ in range(50):
        pace.record("250 OK", refused_us=False)
    assert pace.rate == MailHostPace.START_RATE


def test_check_ends_if_its_host_cools_down_too_long(account: Account, mail: MailServers) -> None:
    probe = add_probe(account)
    MailHostPace.objects.update(cooling_until=timezone.now() + timedelta(hours=24))
    step_until_done(probe)
    assert mail.server.verbs["RCPT"] == 0


@pytest.mark.parametrize("is_off", [True, False])
def test_check_ends_when_its_time_is_up_or_staff_turn_the_host_off(
    account: Account, mail: MailServers, is_off: bool
) -> None:
    probe = add_probe(account, next_attempt_at=timezone.now() + timedelta(minutes=5))
    if is_off:
        MailHostPace.objects.update(is_off=True)
    else:
        Probe.objects.update(ends_at=timezone.now())
    step_until_done(probe)
    assert mail.server.verbs["RCPT"] == 0


def step_until_done(probe: Probe) -> None:
    queue = ProbeQueue()
    while Probe.objects.waiting().filter(pk=probe.pk).exists():
        queue.step(is_stopping=False)
        queue.wait(0.05)


def test_refused_conversation_ends_the_turn(account: Account, mail: MailServers) -> None:
    mail.server.hosts["127.0.9.1"].banner = "554 5.7.1 Go away"
    for number in range(3):
        add_probe(account, f"name{number}@shop.com")
    run_queue()
    pace = MailHostPace.objects.get()
    assert pace.is_cooling
    assert pace.last_reply == "554 5.7.1 Go away"
    # Two may have been in progress.
    assert 1 <= Probe.objects.filter(tries=0).exclude(done_at=None).count() <= 2
    assert mail.server.verbs["RCPT"] == 0


def test_broken_check_fails_alone(account: Account) -> None:
    broken = add_probe(account, email="joe@shop.com")
    Probe.objects.filter(pk=broken.pk).update(email="sealed:" + "A" * 40)
    add_probe(account, "jane@shop.com")
    run_queue()
    assert not Probe.objects.waiting().exists()


def test_checks_of_a_removed_egress_move_to_another(account: Account) -> None:
    probe = add_probe(account, egress="192.0.2.1:1080")
    move_probes()
    probe.refresh_from_db()
    assert probe.egress in egresses()
    assert MailHostPace.objects.filter(egress=probe.egress).exists()
    run_queue()
    assert not Probe.objects.waiting().exists()


def add_list(account: Account, *emails: str) -> list[Probe]:
    """Let a list of the account wait for answers."""
    list_id = f"lst_{ProbeGroup.objects.count():020}"
    groups.open_group(list_id, account)
    group = ProbeGroup.objects.get(list_id=list_id)
    return [add_probe(account, email, group=group, ends_at=None) for email in emails]


def test_calls_precede_lists_which_get_a_share(account: Account) -> None:
    names = [f"name{number}@shop.com" for number in range(10)]
    of_list = add_list(account, *names)
    calls = [add_probe(account, name) for name in names]
    turn = claim()
    probes = [turn.next_probe() for _ in range(8)]
    assert probes[:4] == [*calls[:3], of_list[0]]
    assert sum(probe in of_list for probe in probes) == 2


def test_lists_of_accounts_take_turns(account: Account) -> None:
    other = open_account(user=make_user("other@store.example"))
    add_list(account, *(f"name{number}@shop.com" for number in range(150)))
    short = add_list(other, "jane@shop.com")
    turn = claim()
    # Each of the two is as likely to be next.
    assert short[0] in [turn.next_probe() for _ in range(120)]


def test_organization_without_due_checks_is_idle_until_there_are_some(account: Account) -> None:
    probe = add_probe(account, next_attempt_at=timezone.now() + timedelta(minutes=6))
    turn = claim()
    assert turn.next_probe() is None
    turn.release()
    assert MailHostPace.objects.claim() is None
    MailHostPace.objects.wake_due()
    assert MailHostPace.objects.claim() is None
    Probe.objects.filter(pk=probe.pk).update(next_attempt_at=timezone.now())
    MailHostPace.objects.wake_due()
    assert MailHostPace.objects.claim() is not None


def test_check_that_begins_wakes_its_organization(
    account: Account, django_capture_on_commit_callbacks: Any
) -> None:
    add_probe(account, next_attempt_at=timezone.now() + timedelta(minutes=6))
    turn = claim()
    assert turn.next_probe() is None
    turn.release()
    with django_capture_on_commit_callbacks(execute=True):
        add_probe(account, "jane@shop.com")
    assert MailHostPace.objects.claim() is not None


@pytest.mark.parametrize("stop", ["pause", "end", "suspend"])
def test_checks_of_a_stopped_list_are_not_due(account: Account, stop: str) -> None:
    add_list(account, "jane@shop.com")
    match stop:
        case "pause":
            ProbeGroup.objects.update(is_paused=True)
        case "end":
            ProbeGroup.objects.update(ends_at=timezone.now())
        case "suspend":
            Account.objects.update(suspended_at=timezone.now())
    turn = claim()
    assert turn.next_probe() is None
    turn.release()
    assert MailHostPace.objects.get().is_idle


def test_process_takes_as_many_hosts_as_it_can_ask(account: Account, settings: Settings) -> None:
    settings.PROBE_WORKERS = 2
    for number in range(20):
        add_probe(account, organization=f"shop{number}.com")
    queue = ProbeQueue()
    queue.step(is_stopping=False)
    assert 0 < len(queue.turns) <= 8
    while queue.turns:
        queue.step(is_stopping=True)
        queue.wait(0.05)
