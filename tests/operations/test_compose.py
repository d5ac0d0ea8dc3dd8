"""compose.yaml and the files that it mounts: valid, hardened, documented."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.server import gunicorn_settings, supervisor
from config.server.pools import POOLS
from tests.operations.test_container_files import DOCKERFILE, find_problems, instructions
from tests.servers.product import ROOT

COMPOSE = ROOT / "compose.yaml"
TEXT = COMPOSE.read_text()
SERVICES: dict[str, Any] = yaml.safe_load(TEXT)["services"]
# PostgreSQL's, of the Debian releases that an image may be built on.
CLIENT_VERSIONS = {"bookworm": 15, "trixie": 17}
# The services that run the product: a pool of web workers or another role each.
PRODUCT = {*POOLS, "worker", "lists", "webhooks", "probes", "backups"}
MEASURED = PRODUCT - {"backups"}


def seconds(text: str) -> int:
    return int(text[:-1]) * {"s": 1, "m": 60}[text[-1]]


def test_compose_file_matches_the_schema() -> None:
    schema = ("--builtin-schema", "vendor.compose-spec")
    assert not find_problems("check-jsonschema", *schema, COMPOSE)


@pytest.mark.parametrize("name", SERVICES)
def test_service_is_hardened(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["restart"] == "unless-stopped"
    assert seconds(service["stop_grace_period"]) >= 10
    assert "privileged" not in service
    # Only Caddy is root, without a right over files, and binds ports below 1024.
    allowed = {"NET_BIND_SERVICE"} if name == "proxy" else set()
    assert set(service.get("cap_add", [])) == allowed
    assert name in {*PRODUCT, "proxy"} or service["user"] not in {"root", "0"}
    assert re.fullmatch(r"\d+[mg]", service["mem_limit"])


@pytest.mark.parametrize("name", sorted(set(SERVICES) - PRODUCT))
def test_images_of_others_are_official_and_pinned(name: str) -> None:
    image, _, version = SERVICES[name]["image"].partition(":")
    major = r"\d+(-trixie)?" if name in {"postgres", "redis", "proxy"} else r"v?\d+\.\d+\.\d+"
    assert re.fullmatch(major, version)
    assert image in {"postgres", "valkey/valkey", "caddy", "prom/prometheus", "grafana/grafana"}
    # The product's is in its Dockerfile.
    assert SERVICES[name]["healthcheck"]["test"][0] == "CMD"


def test_database_has_a_volume_per_major_version_and_the_image_its_client_programs() -> None:
    postgres = SERVICES["postgres"]
    major, _, release = postgres["image"].removeprefix("postgres:").partition("-")
    assert postgres["volumes"] == [f"postgres-{major}:/var/lib/postgresql/data"]
    (base,) = re.findall(r"^ARG BASE=python:[\d.]+-slim-(\w+)$", DOCKERFILE, re.M)
    assert (base, CLIENT_VERSIONS[base]) == (release, int(major))


def test_memory_limits_fit_the_measured_figures() -> None:
    """docs/performance.md: a web worker, a list process, and reading a file."""
    for pool in POOLS:
        assert in_mebibytes(SERVICES[pool]["mem_limit"]) >= 14 * 120 + 18 + 64
    assert in_mebibytes(SERVICES["lists"]["mem_limit"]) >= 190 + 64 + 1024


def in_mebibytes(limit: str) -> int:
    return int(limit[:-1]) * {"m": 1, "g": 1024}[limit[-1]]


def test_only_the_proxy_is_published_beyond_the_machine() -> None:
    ports = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert ports == {
        "api": ["127.0.0.1:8000:8000"],
        "proxy": ["80:80", "443:443"],
        "prometheus": ["127.0.0.1:3000:3000"],
    }


def test_database_and_redis_are_on_a_network_without_a_route() -> None:
    networks = yaml.safe_load(TEXT)["networks"]
    assert networks["internal"] == networks["database"] == {"internal": True}
    assert SERVICES["redis"]["networks"] == ["internal"]
    assert SERVICES["postgres"]["networks"] == ["internal", "database"]
    assert "internal" not in SERVICES["proxy"]["networks"]


def test_containers_that_reach_hosts_of_customers_share_a_network_with_the_database_only() -> None:
    networks = set(SERVICES["webhooks"]["networks"])
    sharing = {name for name in SERVICES if networks & set(SERVICES[name].get("networks", []))}
    assert sharing == {"webhooks", "probes", "postgres", "prometheus"}
    # Prometheus and its interface, which have no login, listen where only they are.
    assert "--web.listen-address=127.0.0.1:9090" in SERVICES["prometheus"]["command"]
    assert SERVICES["grafana"]["network_mode"] == "service:prometheus"
    assert SERVICES["probes"]["networks"] == SERVICES["webhooks"]["networks"]
    assert SERVICES["probes"]["profiles"] == ["probes"]


def test_only_the_product_gets_all_secrets() -> None:
    assert {name for name in SERVICES if "env_file" in SERVICES[name]} == PRODUCT
    given = {
        *re.findall(r"\$\{([A-Z_]+)", str(SERVICES["postgres"])),
        *re.findall(r"\$\{([A-Z_]+)", str(SERVICES["proxy"])),
    }
    assert given == {
        *("DATABASE_PASSWORD", "BASE_URL", "SUPPORT_EMAIL", "ANONYMOUS_REQUESTS_PER_MINUTE")
    }


def test_every_variable_is_documented() -> None:
    reference = (ROOT / "docs" / "configuration.md").read_text()
    names = {*re.findall(r"\$\{([A-Z_]+)", TEXT), *SERVICES["backups"]["environment"]}
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
    assert (
        shares["backups"]
        == shares["lists"]
        < shares["bulk"]
        == shares["webhooks"]
        < shares["pages"]
        < shares["api"]
    )


def test_prometheus_reads_every_process_the_alerts_and_grafana_the_dashboard() -> None:
    folder = ROOT / "deploy" / "prometheus"
    (job,) = yaml.safe_load((folder / "prometheus.yaml").read_text())["scrape_configs"]
    port = SERVICES["api"]["environment"]["METRICS_PORT"].rpartition(":")[2]
    (found,) = job["dns_sd_configs"]
    (fixed,) = (config["targets"] for config in job["static_configs"])
    assert {f"{name}:{found['port']}" for name in found["names"]} | {*fixed} == {
        f"{name}:{port}" for name in MEASURED
    }
    # The alerts and the dashboard select this job.
    assert f'up{{job="{job["job_name"]}"}}' in (folder / "alerts.yaml").read_text()
    networks = set(SERVICES["prometheus"]["networks"])
    assert all(networks & set(SERVICES[name]["networks"]) for name in MEASURED)
    assert not find_problems("promtool", "check", "config", folder / "prometheus.yaml")
    mounts = dict(volume.split(":")[:2] for volume in SERVICES["grafana"]["volumes"])
    provisioning = ROOT / "deploy" / "grafana" / "provisioning"
    (provider,) = yaml.safe_load((provisioning / "dashboards/email-validation.yaml").read_text())[
        "providers"
    ]
    dashboard = mounts["./deploy/grafana/dashboard.json"]
    assert str(Path(dashboard).parent) == provider["options"]["path"]
    assert json.loads((ROOT / "deploy/grafana/dashboard.json").read_text())["panels"]
