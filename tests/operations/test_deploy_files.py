"""The files an operator copies: the environment, the units and the nginx configuration."""

import os
import re
import secrets
import shutil
import subprocess
import sys
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest

from config.server.pools import POOLS
from lists.api.waiting import MAX_SECONDS
from tests.servers.product import ROOT
from tests.servers.programs import run_program
from tests.servers.public_addresses import PUBLIC_ADDRESSES, SPECIAL_ADDRESSES
from tests.servers.systemd import (
    FIRST_LISTS,
    FIRST_WEBHOOKS,
    LISTS,
    UNITS,
    UPGRADE,
    WEB,
    WEBHOOKS,
    WORKER,
    directives,
)
from validation.results.serializers import MAX_TIMEOUT_SECONDS

pytestmark = pytest.mark.process

DEPLOY = ROOT / "deploy"
EXAMPLE = (DEPLOY / "production.env.example").read_text()
SECRETS = ("SECRET_KEY", "API_KEY_PEPPER", "ADDRESS_HASH_KEY")
# The command in the file that generates a secret.
GENERATE = re.search(r'python3 -c "(.+)"', EXAMPLE)


def check(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `check --deploy` with this environment file, loaded by a shell."""
    text = text.replace("/var/lib/email-validation", str(folder / "data"))
    (folder / "production.env").write_text(text)
    printed = subprocess.run(
        ["sh", "-c", f"set -a; . {folder}/production.env; exec env -0"],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    environment = dict(line.split("=", 1) for line in printed.split("\0") if line)
    return run_program("manage.py", "check", "--deploy", "--fail-level", "WARNING", **environment)


def test_the_example_environment_needs_its_secrets_and_nothing_else(tmp_path: Path) -> None:
    process = check(EXAMPLE, tmp_path)
    assert process.returncode == 1
    missing = re.findall(r"^  - (\w+)", process.stderr, re.M)
    assert missing == list(SECRETS)
    text = EXAMPLE
    for name in SECRETS:
        text = text.replace(f"\n{name}=\n", f"\n{name}={secrets.token_urlsafe(48)}\n")
    copied = re.findall(r"(\w+) is still the example", check(text, tmp_path).stderr)
    assert sorted(copied) == ["BASE_URL", "SELLER_ADDRESS", "SELLER_NAME", "SELLER_TAX_ID"]
    text = text.replace("validation.example", "validation.test").replace("Example", "Harbor")
    process = check(text.replace("EX1", "HB1"), tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
    assert "no issues" in process.stdout


def test_command_in_the_example_generates_a_secret() -> None:
    assert GENERATE
    process = subprocess.run(
        [sys.executable, "-c", GENERATE[1]], capture_output=True, text=True, check=True
    )
    assert len(process.stdout.strip()) >= 50


def test_every_setting_in_the_example_is_documented() -> None:
    documented = (ROOT / "docs" / "configuration.md").read_text()
    names = re.findall(r"^#?([A-Z_]+)=", EXAMPLE, re.M)
    assert len(names) > 20
    assert [name for name in names if f"`{name}`" not in documented] == []


@pytest.mark.parametrize("unit", [WEB, WORKER, LISTS, WEBHOOKS])
def test_units_run_in_the_data_folder_of_the_example(unit: str) -> None:
    (state,) = directives(unit, "StateDirectory")
    assert f"\nDATA_DIR=/var/lib/{state}\n" in EXAMPLE
    assert directives(unit, "WorkingDirectory") == ["/srv/email-validation/current"]
    assert directives(unit, "EnvironmentFile") == ["/etc/email-validation/production.env"]
    assert directives(unit, "UMask") == ["0077"]


def test_all_units_have_the_same_hardening() -> None:
    (hardening,) = {
        (UNITS / unit).read_text().partition("# The service needs")[2]
        for unit in (WEB, UPGRADE, WORKER, LISTS, WEBHOOKS)
    }
    assert {"NoNewPrivileges=true", "ProtectSystem=strict"} <= set(hardening.splitlines())


def test_upgrade_runs_the_web_unit_in_another_folder() -> None:
    web, upgrade = (
        (UNITS / unit).read_text().partition("[Unit]")[2].splitlines() for unit in (WEB, UPGRADE)
    )
    assert set(upgrade) - set(web) == {
        "Description=Email validation: web server for %i during an upgrade",
        "WorkingDirectory=/srv/email-validation/next",
    }
    assert len(upgrade) == len(web)


def test_each_pool_has_a_socket_on_its_port() -> None:
    for name, pool in POOLS.items():
        (address,) = directives(WEB.replace("@.service", f"@{name}.socket"), "ListenStream")
        assert address == f"127.0.0.1:{8000 + pool.port_offset}"


def test_webhooks_unit_reaches_public_addresses_and_its_own_machine() -> None:
    keywords = {
        "localhost": ["127.0.0.0/8", "::1/128"],
        "link-local": ["169.254.0.0/16", "fe80::/64"],
        "multicast": ["224.0.0.0/4", "ff00::/8"],
    }
    denied, allowed = (
        [
            ip_network(network)
            for word in " ".join(directives(WEBHOOKS, name)).split()
            for network in keywords.get(word, [word])
        ]
        for name in ("IPAddressDeny", "IPAddressAllow")
    )
    for address in (*SPECIAL_ADDRESSES, *PUBLIC_ADDRESSES):
        ip = ip_address(address)
        # A more specific match doesn't count: what is allowed isn't denied.
        reached = any(ip in each for each in allowed) or not any(ip in each for each in denied)
        assert reached == (address in PUBLIC_ADDRESSES or ip.is_loopback), address


def test_target_starts_all_units() -> None:
    pools = " ".join(WEB.replace("@", f"@{pool}") for pool in POOLS)
    workers = [f"{WORKER} {FIRST_LISTS}", FIRST_WEBHOOKS]
    assert directives("email-validation.target", "Wants") == [pools, *workers]
    for unit in (WEB, WORKER, LISTS, WEBHOOKS):
        assert directives(unit, "PartOf") == ["email-validation.target"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="There is no systemd here.")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    shutil.copytree(UNITS, tmp_path, dirs_exist_ok=True)
    for file in tmp_path.glob("*.service"):
        text = file.read_text()
        file.write_text(text.replace("/usr/bin/env .venv/bin/python", sys.executable))
    instances = [tmp_path / WEB.replace("@", f"@{pool}") for pool in POOLS]
    files = [*instances, *(path for path in tmp_path.glob("*.*") if path.is_file())]
    process = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert len(files) == 13
    assert "email-validation" not in process.stderr


def test_nginx_and_environment_use_the_same_port_and_host() -> None:
    nginx = (DEPLOY / "nginx" / "nginx.conf").read_text()
    assert "\nPORT=8000\n" in EXAMPLE
    for name, pool in POOLS.items():
        assert f"upstream {name} {{\n        server 127.0.0.1:{8000 + pool.port_offset} " in nginx
    (name,) = re.findall(r"^ALLOWED_HOSTS=(.+)$", EXAMPLE, re.M)
    assert nginx.count(f"server_name {name};") == 2
    assert nginx.count("validation.example") == 7, "The header of nginx.conf lists what to change."
    assert "metrics" not in nginx


def test_proxy_waits_longer_than_any_call() -> None:
    nginx = (DEPLOY / "nginx" / "nginx.conf").read_text()
    waits = [int(text) for text in re.findall(r"proxy_read_timeout (\d+)s;", nginx)]
    longest = max(MAX_TIMEOUT_SECONDS, MAX_SECONDS)
    assert len(waits) == 4
    assert min(waits) >= longest + 10
