"""The Dockerfile, compose.yaml and what they start: valid, hardened, documented."""

import re
import runpy
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

from config.server import gunicorn_settings, supervisor
from config.server.pools import POOLS
from tests.servers.product import PACKAGES, ROOT
from tests.site.test_repository import tracked_files

pytestmark = pytest.mark.anywhere

DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = ROOT / "compose.yaml"
TEXT = COMPOSE.read_text()
SERVICES: dict[str, Any] = yaml.safe_load(TEXT)["services"]
ENTRY_POINT = ROOT / "deploy" / "container" / "entrypoint"
HEALTH_CHECK = runpy.run_path(str(ROOT / "deploy" / "container" / "healthcheck.py"))
# The services that run the product: a pool of web workers or another role each.
PRODUCT = {*POOLS, "worker", "lists", "webhooks", "probes"}


def find_problems(name: str, *arguments: object) -> str:
    """Return what the tool prints about its files, or nothing if it accepts them."""
    command = [str(Path(sys.executable).with_name(name)), *map(str, arguments)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode == 0:
        return ""
    return process.stdout + process.stderr or f"{name} ended with {process.returncode}."


def instructions(name: str) -> list[str]:
    """Return what follows the instruction in the last stage, with continued lines joined."""
    last_stage = DOCKERFILE.replace("\\\n", "").rpartition("\nFROM ")[2]
    return re.findall(rf"^{name} (.+)$", last_stage, re.M)


def seconds(text: str) -> int:
    return int(text[:-1]) * {"s": 1, "m": 60}[text[-1]]


def test_dockerfile_passes_the_linter() -> None:
    assert not find_problems("hadolint", "Dockerfile")


def test_compose_file_matches_the_schema() -> None:
    schema = ("--builtin-schema", "vendor.compose-spec")
    assert not find_problems("check-jsonschema", *schema, COMPOSE)


@pytest.mark.parametrize("name", ["entrypoint", "proxy"])
def test_entry_points_are_valid_and_executable(name: str) -> None:
    file = ENTRY_POINT.with_name(name)
    assert file.stat().st_mode & 0o111 == 0o111
    subprocess.run(["sh", "-n", file], check=True)


@pytest.mark.parametrize(
    ("arguments", "started"),
    [
        ([], "-m config.server.supervisor"),
        (["serve"], "-m config.server.supervisor"),
        (["api"], " ".join(supervisor.WEB_SERVER[1:])),
        (["bulk"], " ".join(supervisor.WEB_SERVER[1:])),
        (["pages"], " ".join(supervisor.WEB_SERVER[1:])),
        (["worker"], " ".join(supervisor.BACKGROUND_WORKER[1:])),
        (["lists"], " ".join(supervisor.LIST_WORKER[1:])),
        (["webhooks"], "manage.py run_webhooks"),
        (["probes"], "manage.py run_probes"),
        (["migrate", "--new-database"], "manage.py migrate --new-database"),
        (
            ["create_key", "a@b.example", "--name", "My key"],
            "manage.py create_key a@b.example --name My key",
        ),
    ],
)
def test_each_role_starts_its_process(tmp_path: Path, arguments: list[str], started: str) -> None:
    lines = run_entry_point(tmp_path, *arguments)
    assert lines[-1] == started
    # Only web servers migrate, and `serve` starts everything.
    is_web = arguments and arguments[0] in POOLS
    assert lines[:-1] == (["-m config.server.prepare"] if is_web else [])


@pytest.mark.parametrize("role", [*POOLS, "lists", "webhooks", "probes"])
def test_containers_without_the_background_worker_serve_their_metrics(
    tmp_path: Path, role: str
) -> None:
    lines = run_entry_point(tmp_path, role, METRICS_PORT="0.0.0.0:9100")
    assert "manage.py serve_metrics" in lines
    assert "manage.py serve_metrics" not in run_entry_point(tmp_path, role)


def run_entry_point(
    folder: Path, *arguments: str, program: str = 'echo "$*"', **environment: str
) -> list[str]:
    """Run the entry point with a python that is a shell script, by default one that echoes."""
    (folder / "python").write_text(f"#!/bin/sh\n{program}\n")
    (folder / "python").chmod(0o755)
    text = ENTRY_POINT.read_text().replace("/srv/email-validation", str(ROOT))
    process = subprocess.run(
        ["sh", "-c", text, "entrypoint", *arguments],
        env={"PATH": f"{folder}:/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return process.stdout.splitlines()


@pytest.mark.parametrize(
    ("variables", "printed"),
    [
        ({}, "--bind 0.0.0.0:8000 0077"),
        ({"PORT": "9000"}, "--bind 0.0.0.0:9000 0077"),
        ({"GUNICORN_CMD_ARGS": "--bind [::]:80"}, "--bind [::]:80 0077"),
    ],
)
def test_entry_point_listens_on_every_address_of_the_container(
    tmp_path: Path, variables: dict[str, str], printed: str
) -> None:
    program = 'echo "$GUNICORN_CMD_ARGS" "$(umask)"'
    assert run_entry_point(tmp_path, program=program, **variables) == [printed]


def test_documented_roles_are_those_of_the_entry_point() -> None:
    text = ENTRY_POINT.read_text()
    documented = re.findall(r"^#   ([a-z]+) ", text, re.M)
    cases = re.findall(r"^([a-z |]+)\)$", text, re.M)
    assert documented == " | ".join(cases).split(" | ")
    assert documented == ["serve", *POOLS, "worker", "lists", "webhooks", "probes"]
    # A role must not hide a command.
    assert not set(documented) & set(get_commands())


def test_image_runs_as_a_user_without_a_name_in_the_file() -> None:
    assert instructions("USER") == ["10001:10001"]
    assert instructions("VOLUME") == ["/data"]
    assert instructions("CMD")[-1] == '["serve"]'
    assert HEALTH_CHECK["ENTRY_POINT"] in instructions("ENTRYPOINT")[0]
    assert instructions("STOPSIGNAL") == ["SIGTERM"]


def test_image_has_the_version_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"\nARG VERSION={project['version']}\n" in DOCKERFILE


def is_in_image(name: str) -> bool:
    """Return whether .dockerignore lets the file into the build. The last match decides."""
    allowed = True
    for pattern in (ROOT / ".dockerignore").read_text().splitlines():
        if not pattern or pattern.startswith("#"):
            continue
        path = pattern.lstrip("!").removeprefix("**/")
        if pattern.startswith("**/"):
            matches = fnmatch(Path(name).name, path) or f"/{path}/" in f"/{name}"
        else:
            matches = fnmatch(name, path) or name.startswith(f"{path}/")
        if matches:
            allowed = pattern.startswith("!")
    return allowed


def test_build_gets_the_product_and_nothing_else() -> None:
    sent = {name for name in tracked_files() if is_in_image(name)}
    folders = {name.split("/")[0] for name in sent if "/" in name}
    assert folders == {*PACKAGES, "deploy", "static", "templates"}
    assert {name for name in sent if "/" not in name} == {
        *("manage.py", "pyproject.toml", "requirements.lock"),
        # The page of the changelog is made from it.
        "CHANGELOG.md",
    }
    assert {name for name in sent if name.startswith("deploy/")} == {
        *("deploy/container/entrypoint", "deploy/container/healthcheck.py"),
        # What make_secrets prints.
        "deploy/production.env.example",
    }
    for name in (".env", "production.env", ".git/config", "var/db.sqlite3", "secrets/SECRET_KEY"):
        assert not is_in_image(name)


@pytest.mark.parametrize("name", SERVICES)
def test_service_is_hardened(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["restart"] == "unless-stopped"
    assert seconds(service["stop_grace_period"]) >= 10
    assert "privileged" not in service
    # Only nginx starts as root, to read the certificate's key.
    allowed = {"CHOWN", "NET_BIND_SERVICE", "SETGID", "SETUID"} if name == "proxy" else set()
    assert set(service.get("cap_add", [])) == allowed
    assert name in {*PRODUCT, "proxy"} or service["user"] not in {"root", "0"}


@pytest.mark.parametrize("name", sorted(set(SERVICES) - PRODUCT))
def test_images_of_others_are_official_and_pinned_to_a_major_version(name: str) -> None:
    assert re.fullmatch(r"[a-z]+:\d+(-[a-z]+)?", SERVICES[name]["image"])
    # The product's is in its Dockerfile.
    assert SERVICES[name]["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}


def test_ports_are_published_on_loopback() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert ports == [
        "127.0.0.1:8000:8000",
        "${PROXY_ADDRESS:-127.0.0.1}:80:80",
        "${PROXY_ADDRESS:-127.0.0.1}:443:443",
    ]


def test_database_and_redis_are_on_a_network_without_a_route() -> None:
    networks = yaml.safe_load(TEXT)["networks"]
    assert networks["internal"] == networks["database"] == {"internal": True}
    assert SERVICES["redis"]["networks"] == ["internal"]
    assert SERVICES["postgres"]["networks"] == ["internal", "database"]
    assert "internal" not in SERVICES["proxy"]["networks"]


def test_containers_that_reach_hosts_of_customers_share_a_network_with_the_database_only() -> None:
    networks = set(SERVICES["webhooks"]["networks"])
    sharing = {name for name in SERVICES if networks & set(SERVICES[name]["networks"])}
    assert sharing == {"webhooks", "probes", "postgres"}
    assert SERVICES["probes"]["networks"] == SERVICES["webhooks"]["networks"]
    assert SERVICES["probes"]["profiles"] == ["probes"]


def test_only_the_product_gets_all_secrets() -> None:
    assert {name for name in SERVICES if "env_file" in SERVICES[name]} == PRODUCT
    given = {
        *re.findall(r"\$\{([A-Z_]+)", str(SERVICES["postgres"])),
        *re.findall(r"\$\{([A-Z_]+)", str(SERVICES["proxy"])),
    }
    assert given == {
        *("DATABASE_PASSWORD", "BASE_URL", "SUPPORT_EMAIL", "ANONYMOUS_REQUESTS_PER_MINUTE"),
        "PROXY_ADDRESS",
    }


def test_every_variable_is_documented() -> None:
    reference = (ROOT / "docs" / "configuration.md").read_text()
    names = {*re.findall(r"\$\{([A-Z_]+)", TEXT), *SERVICES["api"]["environment"]}
    names |= set(re.findall(r"\b([A-Z]+_[A-Z_]+)=", " ".join(instructions("ENV"))))
    names -= {"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}
    assert len(names) > 8
    assert [name for name in names if f"`{name}`" not in reference] == []


def test_product_has_the_time_to_stop() -> None:
    longest = gunicorn_settings.graceful_timeout + supervisor.STOP_SECONDS
    assert all(seconds(SERVICES[name]["stop_grace_period"]) > longest for name in PRODUCT)


def test_product_waits_for_its_servers_and_the_proxy_for_the_product() -> None:
    healthy = {"condition": "service_healthy"}
    for name in PRODUCT:
        servers = ("postgres",) if name in {"webhooks", "probes"} else ("postgres", "redis")
        assert SERVICES[name]["depends_on"] == dict.fromkeys(servers, healthy)
    assert SERVICES["proxy"]["depends_on"] == dict.fromkeys(POOLS, healthy)


def test_each_role_has_a_container_and_single_calls_the_most_of_a_busy_processor() -> None:
    assert {SERVICES[name]["command"][0] for name in PRODUCT} == PRODUCT
    shares = {name: SERVICES[name]["cpu_shares"] for name in PRODUCT}
    assert shares["lists"] < shares["bulk"] == shares["webhooks"] < shares["pages"] < shares["api"]
