"""The Kubernetes manifests are valid and agree, and production accepts their settings."""

import json
import re
import secrets
from collections.abc import Iterator
from functools import cache
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kubernetes_validate
import pytest
import yaml

from config.server.form_limits import MAX_LARGER_FORM_BYTES
from config.server.pools import POOLS
from config.settings.secrets import SECRETS
from tests.servers.product import ROOT
from tests.servers.programs import run_program
from tests.servers.public_addresses import PUBLIC_ADDRESSES, SPECIAL_ADDRESSES
from tests.servers.systemd import LISTS, PROBES, WEB, WEBHOOKS, WORKER, directives

FOLDER = ROOT / "deploy" / "kubernetes"
OVERLAY = FOLDER / "overlays" / "production"
BOOKS = "email-validation-check-books"
# The oldest has preStop's sleep. Schemas of newer versions are those of the newest one.
VERSIONS = ("1.30", kubernetes_validate.latest_version())
UNITS = {
    **dict.fromkeys(POOLS, WEB),
    "worker": WORKER,
    "lists": LISTS,
    "webhooks": WEBHOOKS,
    "probes": PROBES,
}
SECRETS_FOLDER = "/run/secrets/email-validation"
USER = 10001

Manifest = dict[str, Any]


@cache
def manifests() -> list[Manifest]:
    """Return all objects of the base, the components and the overlay, as the files have them."""
    files = (path for path in sorted(FOLDER.rglob("*.yaml")) if path.name != "kustomization.yaml")
    return [manifest for path in files for manifest in yaml.safe_load_all(path.read_text())]


def find(
    kind: str, name: str = "email-validation", among: list[Manifest] | None = None
) -> Manifest:
    found = [m for m in among or manifests() if (m["kind"], m["metadata"]["name"]) == (kind, name)]
    (only,) = found
    return only


def pods() -> dict[str, Manifest]:
    """Return pod specifications by component."""
    templates = [m["spec"]["template"] for m in manifests() if m["kind"] == "Deployment"]
    templates.append(find("CronJob", BOOKS)["spec"]["jobTemplate"]["spec"]["template"])
    component = "app.kubernetes.io/component"
    return {template["metadata"]["labels"][component]: template["spec"] for template in templates}


def containers() -> Iterator[tuple[str, Manifest]]:
    for component, pod in pods().items():
        for container in [*pod.get("initContainers", []), *pod["containers"]]:
            yield component, container


def read_variables(path: Path) -> dict[str, str]:
    """Return the variables of the file, which kustomize takes as they are."""
    lines = (line for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return dict(line.split("=", 1) for line in lines)


@cache
def settings() -> dict[str, str]:
    return read_variables(OVERLAY / "settings.env")


@cache
def secret_names() -> list[str]:
    return list(read_variables(OVERLAY / "secrets.env.example"))


def main_container(component: str) -> Manifest:
    found: list[Manifest] = pods()[component]["containers"]
    return next(container for container in found if container["name"] == component)


def in_mebibytes(quantity: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(Mi|Gi)", quantity).groups()  # type: ignore[union-attr]
    return int(number) * {"Mi": 1, "Gi": 1024}[unit]


@pytest.mark.parametrize("version", VERSIONS)
def test_manifests_are_valid(version: str) -> None:
    checked = [manifest for manifest in manifests() if manifest["kind"] != "PodMonitor"]
    assert len(checked) > 10
    for manifest in checked:
        # It raises an error if the manifest is invalid.
        kubernetes_validate.validate(manifest, version, strict=True)


def test_every_setting_is_documented() -> None:
    documented = (ROOT / "docs" / "configuration.md").read_text()
    for name in settings():
        assert f"`{name.removesuffix('_FILE')}`" in documented, name
    assert {name.removesuffix("_FILE") for name in settings() if name.endswith("_FILE")} < {
        *SECRETS
    }


def test_each_file_is_a_line_of_the_secrets_which_has_no_value() -> None:
    variables = read_variables(OVERLAY / "secrets.env.example")
    files = {value for name, value in settings().items() if name.endswith("_FILE")}
    assert files == {f"{SECRETS_FOLDER}/{key}" for key in variables}
    assert set(variables.values()) == {""}
    optional = re.findall(
        rf"#(\w+)_FILE={SECRETS_FOLDER}/(\w+)", (OVERLAY / "settings.env").read_text()
    )
    assert all(name == key and name in SECRETS for name, key in optional)
    example = (OVERLAY / "secrets.env.example").read_text()
    assert [key for _, key in optional] == re.findall(r"^#(\w+)=$", example, re.M)


def test_settings_have_a_line_for_every_variable_of_other_installations() -> None:
    def names(path: Path) -> set[str]:
        return set(re.findall(r"^#?([A-Z_]+?)(?:_FILE)?=", path.read_text(), re.M))

    others = names(ROOT / "deploy" / "production.env.example")
    # The image has its folder.
    assert others - names(OVERLAY / "settings.env") == {"DATA_DIR"}


@pytest.mark.process
def test_production_accepts_the_settings(tmp_path: Path) -> None:
    """As in a pod: the variables of the ConfigMap, and the Secret as files."""
    for key in secret_names():
        (tmp_path / key).write_text(secrets.token_urlsafe(48))
    environment = {
        name: value.replace(SECRETS_FOLDER, str(tmp_path)) for name, value in settings().items()
    }
    environment["DATA_DIR"] = str(tmp_path / "data")
    for name, value in environment.items():
        own = value.replace("validation.example", "validation.test").replace("Example", "Harbor")
        environment[name] = own.replace("EX123", "HB123")
    command = ("manage.py", "check", "--deploy", "--fail-level", "WARNING")
    ended = run_program(*command, **environment)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_pods_meet_the_restricted_security_standard() -> None:
    for component, pod in pods().items():
        assert pod["securityContext"] == {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        }, component
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
    for component, container in containers():
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, component


def test_containers_can_write_data_temporary_files_and_metrics_only() -> None:
    for component, container in containers():
        mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
        metrics = settings()["PROMETHEUS_MULTIPROC_DIR"]
        assert set(mounts) - {metrics} == {"/data", "/tmp", SECRETS_FOLDER}, component  # noqa: S108
        assert mounts[SECRETS_FOLDER]["readOnly"]
        volumes = {volume["name"]: volume for volume in pods()[component]["volumes"]}
        secret = volumes[mounts[SECRETS_FOLDER]["name"]]["secret"]
        assert secret["secretName"] == "email-validation"
        # The group reads: the files belong to root, and to the pod's group.
        assert secret["defaultMode"] == 0o440
        assert all("emptyDir" in volumes[mounts[path]["name"]] for path in ("/data", "/tmp"))  # noqa: S108


def test_all_containers_run_their_role_with_the_same_settings() -> None:
    for _, container in containers():
        assert container["image"] == "email-validation"
        assert container["envFrom"] == [{"configMapRef": {"name": "email-validation"}}]
    roles = {(component, *container["args"]) for component, container in containers()}
    assert roles == {
        *((component, component) for component in UNITS),
        # Web workers migrate themselves.
        *((component, "migrate") for component in UNITS if component not in POOLS),
        ("check-books", "check_books"),
    }


@pytest.mark.skipif(not (ROOT / "Dockerfile").exists(), reason="There is no image to compare.")
def test_manifests_agree_with_the_image() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert re.search(rf"^USER {USER}(:{USER})?$", dockerfile, re.M)
    assert re.search(r"\bDATA_DIR=/data\b", dockerfile)
    entry_point = (ROOT / "deploy" / "container" / "entrypoint").read_text()
    for role in UNITS:
        assert re.search(rf"^([a-z]+ \| )*{role}( \| [a-z]+)*\)$", entry_point, re.M)


def test_probes_request_the_paths_of_health_checks() -> None:
    for pool in POOLS:
        container = main_container(pool)
        paths = {
            name: container[f"{name}Probe"]["httpGet"]["path"]
            for name in ("startup", "readiness", "liveness")
        }
        assert paths == {"startup": "/healthz", "readiness": "/readyz", "liveness": "/healthz"}


def test_ports_are_those_of_the_settings() -> None:
    ports = {
        (component, port["name"]): port["containerPort"]
        for component, container in containers()
        for port in container.get("ports", [])
    }
    metrics = int(settings()["METRICS_PORT"].rpartition(":")[2])
    assert ports == {
        **{(pool, "http"): int(settings()["PORT"]) for pool in POOLS},
        **{(component, "metrics"): metrics for component in UNITS},
    }


@pytest.mark.parametrize("component", UNITS)
def test_pods_have_at_least_the_time_to_stop_that_units_have(component: str) -> None:
    (seconds,) = directives(UNITS[component], "TimeoutStopSec")
    pre_stop = main_container(component).get("lifecycle", {}).get("preStop", {})
    delay = pre_stop.get("sleep", {}).get("seconds", 0)
    assert pods()[component]["terminationGracePeriodSeconds"] >= int(seconds) + delay
    assert delay == (10 if component in POOLS else 0)


def test_liveness_waits_longer_than_gunicorn_for_a_blocked_worker() -> None:
    text = (ROOT / "config" / "server" / "gunicorn_settings.py").read_text()
    (timeout,) = re.findall(r"^timeout = (\d+)$", text, re.M)
    for pool in POOLS:
        probe = main_container(pool)["livenessProbe"]
        assert probe["periodSeconds"] * probe["failureThreshold"] > int(timeout)


def test_memory_fits_the_measured_figures() -> None:
    """docs/performance.md: a web worker, a list process, and reading a file."""
    for name, pool in POOLS.items():
        web = main_container(name)["resources"]
        # Also gunicorn's main process, and the one that serves metrics.
        needed = int(settings()[pool.variable]) * 120 + 18 + 64
        assert needed <= in_mebibytes(web["requests"]["memory"])
        assert needed < in_mebibytes(web["limits"]["memory"])
    lists = main_container("lists")["resources"]
    assert in_mebibytes(lists["requests"]["memory"]) >= 190 + 64
    assert in_mebibytes(lists["limits"]["memory"]) >= 190 + 1024
    assert not any("cpu" in c["resources"]["limits"] for _, c in containers())


def test_temporary_files_of_large_lists_fit_and_take_no_memory() -> None:
    for component in (*POOLS, "lists"):
        (data,) = (volume for volume in pods()[component]["volumes"] if volume["name"] == "data")
        assert in_mebibytes(data["emptyDir"]["sizeLimit"]) >= 2 * 1024
        assert "medium" not in data["emptyDir"]


def test_selectors_find_their_pods() -> None:
    name, component = "app.kubernetes.io/name", "app.kubernetes.io/component"
    for pool in POOLS:
        labels = {name: "email-validation", component: pool}
        assert find("Service", f"email-validation-{pool}")["spec"]["selector"] == labels
        assert find("NetworkPolicy")["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    for role in UNITS:
        deployment = find("Deployment", f"email-validation-{role}")["spec"]
        labels = deployment["template"]["metadata"]["labels"]
        assert deployment["selector"]["matchLabels"] == labels
        assert labels == {name: "email-validation", component: role}
        budget = find("PodDisruptionBudget", f"email-validation-{role}")["spec"]
        assert (budget["selector"]["matchLabels"], budget["maxUnavailable"]) == (labels, 1)
        (spread,) = deployment["template"]["spec"]["topologySpreadConstraints"]
        assert spread["labelSelector"]["matchLabels"] == labels
        # A new pod starts before an old one stops.
        assert deployment["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


def test_ingress_leads_to_the_pools_and_lets_large_uploads_through() -> None:
    ingress = find("Ingress")
    host = settings()["ALLOWED_HOSTS"]
    (rule,) = ingress["spec"]["rules"]
    assert (rule["host"], ingress["spec"]["tls"][0]["hosts"]) == (host, [host])
    assert urlsplit(settings()["BASE_URL"]).hostname == host
    backends = {each["path"]: each["backend"]["service"] for each in rule["http"]["paths"]}
    assert {path: backend["name"] for path, backend in backends.items()} == {
        "/v1": "email-validation-api",
        "/v1/validate/batch": "email-validation-bulk",
        "/v1/lists": "email-validation-bulk",
        "/v1/domains": "email-validation-bulk",
        "/v1/mcp": "email-validation-bulk",
        "/": "email-validation-pages",
    }
    for backend in backends.values():
        (port,) = find("Service", backend["name"])["spec"]["ports"]
        assert backend["port"]["name"] == port["name"]
    assert settings()["TRUSTED_PROXIES"] == "1"
    annotations = ingress["metadata"]["annotations"]
    limit = int(annotations["nginx.org/client-max-body-size"].removesuffix("m"))
    assert limit * 1024 * 1024 >= MAX_LARGER_FORM_BYTES


def test_ports_of_all_servers_are_open_to_the_pods() -> None:
    egress = find("NetworkPolicy")["spec"]["egress"]
    ports = {rule["port"] for part in egress for rule in part["ports"]}
    urls = [settings()[name] for name in ("DATABASE_URL", "REDIS_URL", "EMAIL_URL")]
    assert {urlsplit(url).port for url in urls} | {53, 443} == ports


@pytest.mark.parametrize(("name", "ports"), [("webhooks", {443, 8443}), ("probes", {25})])
def test_process_reaches_dns_postgresql_and_public_addresses_only(
    name: str, ports: set[int]
) -> None:
    general = find("NetworkPolicy", "email-validation")["spec"]
    special = find("NetworkPolicy", f"email-validation-{name}")["spec"]
    # Rules of all policies that select a pod add up, so only one may select these.
    (excluded,) = general["podSelector"]["matchExpressions"]
    assert (excluded["operator"], excluded["values"]) == ("NotIn", ["webhooks", "probes"])
    assert special["podSelector"]["matchLabels"][excluded["key"]] == name
    assert special["policyTypes"] == ["Ingress", "Egress"]
    assert [rule["ports"] for rule in special["ingress"]] == [[{"port": "metrics"}]]
    servers, receivers = special["egress"]
    assert {rule["port"] for rule in servers["ports"]} == {
        53,
        urlsplit(settings()["DATABASE_URL"]).port,
    }
    assert {rule["port"] for rule in receivers["ports"]} == ports
    blocks = [
        (ip_network(to["ipBlock"]["cidr"]), [*map(ip_network, to["ipBlock"]["except"])])
        for to in receivers["to"]
    ]
    for address in (*SPECIAL_ADDRESSES, *PUBLIC_ADDRESSES):
        ip = ip_address(address)
        reached = any(ip in all_ and not any(ip in each for each in but) for all_, but in blocks)
        assert reached == (address in PUBLIC_ADDRESSES), address


def test_new_database_is_created_by_a_job_that_the_handbook_changes() -> None:
    """The command in kubernetes.md changes the arguments of the job that checks the books."""
    page = (ROOT / "docs" / "operations" / "kubernetes.md").read_text()
    pattern, replacement = re.findall(r"sed 's/(.+?)/(.+?)/'", page)[0]
    job = json.dumps(find("CronJob", BOOKS)["spec"]["jobTemplate"], indent=4)
    assert job.count(pattern) == 1
    spec = json.loads(job.replace(pattern, replacement))["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert container["args"] == ["migrate", "--new-database"]
    help_text = (ROOT / "runtime" / "management" / "commands" / "migrate.py").read_text()
    assert '"--new-database"' in help_text
