"""The image that the Dockerfile builds: `make image`.

It runs read-only, as its own user and without capabilities, and under its own process ids. What
this doesn't prove: cgroups, seccomp, Docker's networks, and the official images of compose.yaml.
"""

import json
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.operations.test_compose import CLIENT_VERSIONS
from tests.servers.books import fetch_number, fetch_rows
from tests.servers.container import Container, container, run_container
from tests.servers.container_proxy import ContainerProxy
from tests.servers.image import Builder, Image, export_next_release, image_builder, require_programs
from tests.servers.product import ROOT
from tests.servers.production import ENVIRONMENT
from tests.servers.redis import free_port, redis
from tests.servers.reverse_proxy import NAME
from tests.servers.tcp_postgres import TcpPostgres, compose_major, tcp_postgres
from tests.servers.traffic import traffic
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.fault, pytest.mark.timeout(900)]

MAX_BYTES = 180_000_000
# Measured after the start, when no process works.
SETTLE_SECONDS = 10
OWNER = "owner@shop.example"
HEALTH_CHECK = ("python3", "-IS", "deploy/container/healthcheck.py")


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    require_programs()
    with image_builder(tmp_path_factory.mktemp("images")) as running:
        yield running


@pytest.fixture(scope="module")
def image(builder: Builder) -> Image:
    return builder.build(ROOT, "today")


@pytest.fixture(scope="module")
def database() -> Iterator[TcpPostgres]:
    with tcp_postgres() as running:
        yield running


@pytest.fixture(scope="module")
def environment(database: TcpPostgres) -> Iterator[dict[str, str]]:
    with redis() as url:
        servers = {"DATABASE_URL": database.url_with_password, "REDIS_URL": url}
        # Nothing listens on that port, so no lookup waits.
        resolver = {"DNS_RESOLVERS": "127.0.0.1:9"}
        yield {**ENVIRONMENT, **servers, **resolver, "WEB_WORKERS": "2"}


@pytest.fixture(scope="module")
def volume(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("volume") / "data"


@pytest.fixture(scope="module")
def site(image: Image, volume: Path, environment: dict[str, str]) -> Iterator[Container]:
    """The service after its first start, as docs/operations.md describes it."""
    status, output = run_container(image, volume, **environment)
    assert (status, "migrate --new-database" in output) == (1, True), output
    status, output = run_container(image, volume, "migrate", "--new-database", **environment)
    assert status == 0, output
    running = Container(image, volume, **environment)
    try:
        report_start(running)
        yield running
    finally:
        stopped_at = time.monotonic()
        running.stop()
        print(f"\n  Stopped after {time.monotonic() - stopped_at:.1f} s")
    # Not killed: the engine's signal was enough.
    assert running.process.returncode == 0, running.output()


def report_start(site: Container) -> None:
    """Print the numbers of docs/performance.md."""
    started_at = time.monotonic()
    while not site.is_ready():
        assert site.process.poll() is None, site.output()
        time.sleep(0.02)
    seconds = time.monotonic() - started_at
    time.sleep(SETTLE_SECONDS)
    memory = sum(process.memory_full_info().pss for process in site.processes())
    print(f"\n  Ready after {seconds:.1f} s; idle memory (PSS): {memory / 1e6:.0f} MB")


def test_program_adds_at_most_180_megabytes(builder: Builder, image: Image) -> None:
    program, base = image.size("srv"), builder.base().size()
    rest = image.size() - base - program
    print(f"\n  Base: {base / 1e6:.0f} MB; the product: {program / 1e6:.0f} MB; ", end="")
    print(f"PostgreSQL's client and tini: {rest / 1e6:.0f} MB")
    assert program < MAX_BYTES


def test_image_contains_the_product_and_nothing_else(image: Image) -> None:
    names = {path.name for path in (image.root / "srv" / "email-validation").iterdir()}
    assert {"accounts", "config", "manage.py", ".venv", "collected-static"} <= names
    assert not names & {".git", "tests", "docs", "compose.yaml", "production.env", "var"}
    packages = next(image.root.glob("srv/email-validation/.venv/lib/python3*/site-packages"))
    assert not list(packages.glob("pip*"))
    # The index that pip used.
    assert not (image.root / "etc" / "pip.conf").exists()
    assert not (image.root / "data" / "email-validation").exists()
    sources = {path for path in image.files("srv/email-validation/config") if path.suffix == ".py"}
    compiled = {
        path for path in image.files("srv/email-validation/config") if path.suffix == ".pyc"
    }
    assert len(sources) == len(compiled) > 20


def test_client_programs_are_those_of_the_base(image: Image) -> None:
    command = ["chroot", str(image.root), "pg_dump", "--version"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    match = re.search(r"\b(\d+)\.", printed)
    assert match
    # The base comes from this machine's package sources. test_compose.py compares the shipped one.
    release = (image.root / "etc" / "os-release").read_text()
    (name,) = re.findall(r"^VERSION_CODENAME=(\w+)$", release, re.M)
    assert int(match[1]) == CLIENT_VERSIONS[name]


def test_trial_without_settings_prints_a_curl_command_that_works(
    image: Image, volume: Path
) -> None:
    with container(image, volume.with_name("trial")) as running:
        command = re.search(r"^ +(curl .+)$", running.output(), re.M)
        assert command
        printed = subprocess.run(
            ["sh", "-c", f"{command[1]} --silent"], capture_output=True, text=True, check=True
        )
        assert json.loads(printed.stdout)["verdict"] == "deliverable"


def test_container_is_ready_and_its_health_check_passes(site: Container) -> None:
    with urllib.request.urlopen(f"{site.url}/readyz") as response:
        assert json.load(response)["status"] in {"ok", "degraded"}
    assert site.execute(*HEALTH_CHECK).returncode == 0
    # The check itself fails where nothing listens.
    assert site.execute("env", "PORT=9", *HEALTH_CHECK).returncode == 1


def test_processes_have_no_rights(site: Container) -> None:
    assert {process.uids().effective for process in site.processes()} == {10001}
    for process in site.processes():
        status = Path(f"/proc/{process.pid}/status").read_text()
        assert re.findall(r"^Cap(?:Prm|Eff|Bnd|Amb):\s+(\S+)$", status, re.M) == ["0" * 16] * 4
        assert "NoNewPrivs:\t1" in status
    for path in ("/srv/email-validation/new", "/etc/new", "/usr/bin/new"):
        refused = site.execute("touch", path)
        assert "Read-only file system" in refused.stderr
    for path in ("/data/email-validation/new", "/tmp/new"):  # noqa: S108
        assert site.execute("touch", path).returncode == 0


def test_orphans_are_reaped(site: Container) -> None:
    before = len(site.processes())
    # The outer shell ends first, and leaves its child to the first process.
    assert site.execute("sh", "-c", "sleep 0.2 >/dev/null 2>&1 &").returncode == 0
    wait_until(lambda: len(site.processes()) == before)
    assert psutil.STATUS_ZOMBIE not in {process.status() for process in site.processes()}


def test_call_through_the_proxy_of_compose_is_charged(
    image: Image, site: Container, tmp_path: Path
) -> None:
    key = create_key(site)
    proxy = ContainerProxy(tmp_path, site.port)
    try:
        command = [
            *("curl", "--silent", "--cacert", str(proxy.authority)),
            *("--resolve", f"{NAME}:{proxy.port}:127.0.0.1"),
            *("--header", f"Authorization: Bearer {key}"),
            *("--header", "Content-Type: application/json"),
            *("--data", '{"email": "no address"}', f"https://{NAME}:{proxy.port}/v1/validate"),
        ]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    finally:
        proxy.stop()
    assert json.loads(printed)["verdict"] == "undeliverable"
    assert "agree" in manage(site, "check_books")


def manage(site: Container, *command: str) -> str:
    """Run a command of manage.py in a new container with the same volume and settings."""
    status, output = run_container(site.image, site.folder, *command, **site.environment)
    assert status == 0, output
    return output.strip()


def create_key(site: Container, *, credits: int = 100) -> str:
    options = ("--credits", str(credits), "--requests-per-minute", "100000")
    manage(site, "create_account", OWNER, *options)
    return manage(site, "create_key", OWNER, "--name", "Server")


def test_backup_of_the_running_service_can_be_read(site: Container, database: TcpPostgres) -> None:
    if database.major != compose_major():
        pytest.skip(f"PostgreSQL {compose_major()}, which compose.yaml runs, is not installed.")
    backed_up = site.execute("python", "manage.py", "back_up", "/data/service.backup")
    assert backed_up.returncode == 0, backed_up.stderr
    checked = site.execute("python", "manage.py", "restore", "--check", "/data/service.backup")
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("role", ["bulk", "worker", "lists", "webhooks"])
def test_each_role_runs_and_stops_by_the_signal(image: Image, site: Container, role: str) -> None:
    variables = {name: value for name, value in site.environment.items() if name != "PORT"}
    running = Container(image, site.folder.with_name(role), role, **variables)
    word = {"bulk": "gunicorn"}.get(role, f"run_{role}")
    try:
        wait_until(lambda: any(word in " ".join(p.cmdline()) for p in running.processes()))
        if role == "bulk":
            running.wait_until_ready()
        time.sleep(2)
        assert running.process.poll() is None, running.output()
        assert running.execute(*HEALTH_CHECK).returncode == 0
    finally:
        running.stop()
    assert running.process.returncode in {0, 128 + signal.SIGTERM}, running.output()


def test_upgrade_loses_no_call(builder: Builder, image: Image, volume: Path) -> None:
    """Replace a container by one whose release has one more migration, as `up --detach` does."""
    upgraded = builder.build(export_next_release(builder.folder / "next"), "next")
    data = volume.with_name("upgraded")
    with tcp_postgres() as database, redis() as counters:
        servers = {"DATABASE_URL": database.url_with_password, "REDIS_URL": counters}
        variables = {**ENVIRONMENT, **servers, "WEB_WORKERS": "2", "PORT": str(free_port())}
        status, output = run_container(image, data, "migrate", "--new-database", **variables)
        assert status == 0, output
        migrations = "SELECT count(*) FROM django_migrations"
        with container(image, data, **variables) as old:
            key = create_key(old, credits=1_000_000)
            applied = fetch_number(old, migrations)
            with traffic(old.port, NAME, key) as calls:
                calls.wait_for_more()
                old.stop()
                assert old.process.returncode == 0, old.output()
                with container(upgraded, data, **variables) as new:
                    calls.wait_for_more()
                    calls.stop()
                    query = "SELECT result_id FROM validation_logentry WHERE cost = 1"
                    charged = [row[0] for row in fetch_rows(new, query)]
                    used = fetch_number(new, "SELECT SUM(credits) FROM credits_usehour")
                    assert "agree" in manage(new, "check_books")
                    assert fetch_number(new, migrations) == applied + 1
    print(f"\n  {len(calls.answered)} calls, {len(calls.failures)} repetitions during the upgrade")
    # Each call is in the books once, however often it was repeated.
    assert set(calls.failures) <= {0, 503}
    assert calls.failures
    assert {len(results) for results in calls.answered.values()} == {1}
    assert calls.results <= set(charged)
    assert used == len(charged) == len(set(charged))
    assert len(charged) <= len(calls.answered) + calls.sent_once
