"""Kill processes that hold and charge credits: the books agree, and each charge is usage."""

import random
import subprocess
from pathlib import Path

import pytest

from tests.credits.killed_processes import product_on, start_process
from tests.servers.books import fetch_number, fetch_rows
from tests.servers.keys import make_account, manage
from tests.servers.product import Product

pytestmark = [pytest.mark.process, pytest.mark.fault]

PROCESSES, KILLS = 3, 8
CHARGES_BETWEEN_KILLS = 10


def start(site: Product, account_id: str) -> subprocess.Popen[str]:
    return start_process("tests.credits.wallet.holding_process", site, account_id)


def wait_for_charges(process: subprocess.Popen[str]) -> None:
    assert process.stdout
    for _ in range(random.randint(1, CHARGES_BETWEEN_KILLS)):
        assert process.stdout.readline() == "charged\n"


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def hold_and_kill(site: Product) -> None:
    make_account(site, "holder@shop.example", "--credits", "5000")
    ((account_id,),) = fetch_rows(
        site, "SELECT public_id FROM accounts_account ORDER BY id DESC LIMIT 1"
    )
    processes = [start(site, account_id) for _ in range(PROCESSES)]
    try:
        for number in range(KILLS):
            victim = number % PROCESSES
            wait_for_charges(processes[victim])
            kill(processes[victim])
            processes[victim] = start(site, account_id)
        wait_for_charges(processes[0])
    finally:
        for process in processes:
            kill(process)


def assert_nothing_lost(site: Product) -> None:
    assert "agree" in manage(site, "check_books")
    charged = fetch_number(site, "SELECT SUM(charged) FROM credits_hold")
    assert charged == fetch_number(site, "SELECT SUM(credits) FROM credits_usehour")
    assert charged > 0
    # Killed processes leave holds open, and their credits stay held.
    held = fetch_number(site, "SELECT SUM(held) FROM credits_wallet")
    assert held == fetch_number(site, "SELECT SUM(remaining) FROM credits_hold")


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_killed_processes_lose_no_held_credit(tmp_path: Path, database: str) -> None:
    with product_on(database, tmp_path) as site:
        hold_and_kill(site)
        assert_nothing_lost(site)
