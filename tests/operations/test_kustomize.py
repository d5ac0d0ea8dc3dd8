"""The overlay for Kubernetes renders, with one image, settings that replace pods, and metrics."""

import shutil
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from tests.operations.test_kubernetes import (
    FOLDER,
    UNITS,
    VERSIONS,
    Manifest,
    containers,
    find,
    main_container,
    manifests,
)
from tests.servers.product import ROOT


def render(folder: Path, more_settings: str = "") -> list[Manifest]:
    """Return what `kubectl apply -k` sends for a filled-in overlay with mailbox checks."""
    # No package of ours brings it, so it isn't required in CI either.
    kubectl = shutil.which("kubectl") or pytest.skip("This test needs kubectl.")
    overlay = Path(shutil.copytree(FOLDER, folder)) / "overlays" / "production"
    shutil.copy(overlay / "secrets.env.example", overlay / "secrets.env")
    file = overlay / "kustomization.yaml"
    file.write_text(file.read_text().replace("# - ../../components", "- ../../components"))
    with (overlay / "settings.env").open("a") as settings:
        settings.write(more_settings)
    command = [kubectl, "kustomize", str(overlay)]
    rendered = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (rendered.returncode, rendered.stderr) == (0, "")
    return list(yaml.safe_load_all(rendered.stdout))


def test_overlay_renders_every_object_with_the_image_that_it_names_once(tmp_path: Path) -> None:
    rendered = render(tmp_path / "overlay")
    kinds = Counter(manifest["kind"] for manifest in rendered)
    shipped = Counter(manifest["kind"] for manifest in manifests())
    assert kinds == shipped + Counter(["ConfigMap", "Secret"])
    for manifest in rendered:
        # Its schema is the Prometheus Operator's.
        if manifest["kind"] != "PodMonitor":
            kubernetes_validate.validate(manifest, VERSIONS[-1], strict=True)
    assert {manifest["metadata"]["namespace"] for manifest in rendered} == {"email-validation"}
    text = yaml.safe_dump_all(rendered)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    image = f"image: registry.example/email-validation:{version}\n"
    assert text.count("image: ") == text.count(image) == len(list(containers()))


def test_tag_of_the_image_is_in_one_place() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    files = [path for path in FOLDER.rglob("*") if path.is_file() and version in path.read_text()]
    assert files == [FOLDER / "overlays" / "production" / "kustomization.yaml"]


def test_changed_settings_replace_the_pods(tmp_path: Path) -> None:
    """kustomize names the ConfigMap after its content."""
    today = render(tmp_path / "today")
    changed = render(tmp_path / "changed", "LOG_LEVEL=warning\n")
    names = [
        manifest["spec"]["template"]["spec"]["containers"][0]["envFrom"][0]["configMapRef"]["name"]
        for rendered in (today, changed)
        for manifest in rendered
        if manifest["kind"] == "Deployment"
    ]
    assert Counter(Counter(names).values()) == {len(UNITS): 2}


def test_prometheus_finds_every_process() -> None:
    spec = find("PodMonitor")["spec"]
    (endpoint,) = spec["podMetricsEndpoints"]
    for component in UNITS:
        deployment = find("Deployment", f"email-validation-{component}")["spec"]
        labels = deployment["template"]["metadata"]["labels"]
        assert spec["selector"]["matchLabels"].items() <= labels.items()
        assert endpoint["port"] in [port["name"] for port in main_container(component)["ports"]]
        # The alerts select this job.
        assert labels[spec["jobLabel"]] == "email-validation"
