"""deploy/publish and the CI jobs that run it. Docker and cosign only record how they are called."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from tests.operations.test_container_files import find_problems
from tests.servers.product import ROOT

CI = ROOT / "deploy" / "ci"
VERSION: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
IMAGE, DIGEST = "registry.example/validation", f"sha256:{'a' * 64}"
RECORD = f"""#!/bin/sh
echo "${{0##*/}} $*" >>"$CALLS"
[ "$1" != buildx ] || while [ "$1" ]; do
    [ "$1" != --metadata-file ] || echo '{{"containerimage.digest": "{DIGEST}", "x": 1}}' >"$2"
    shift
done
"""
PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")
SCHEMAS = {
    "github.yaml": ("--builtin-schema", "vendor.github-workflows"),
    "gitlab.yaml": ("--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
}


class Checkout:
    """A checkout of a release that is tagged."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls = folder / "checkout", folder / "calls"
        (folder / "bin").mkdir()
        for name in ("docker", "cosign"):
            (folder / "bin" / name).write_text(RECORD)
            (folder / "bin" / name).chmod(0o755)
        self.environment = {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "CALLS": str(self.calls),
            "SOURCE": "https://git.example/validation",
        }
        for name in ("deploy/publish", "pyproject.toml", "CHANGELOG.md"):
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
        self.git("init", "--quiet")
        self.commit()
        self.git("tag", f"v{VERSION}")

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=Test", "-c", "user.email=test@shop.example", *arguments]
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def commit(self) -> None:
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "Release.")

    def publish(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["deploy/publish", *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_image_is_built_with_its_sbom_pushed_and_signed_by_its_digest(checkout: Checkout) -> None:
    published = checkout.publish(IMAGE)
    assert published.returncode == 0, published.stderr
    built, signed = checkout.calls.read_text().splitlines()
    assert built.startswith("docker buildx build --push --sbom=true --provenance=mode=max ")
    assert f"--tag {IMAGE}:{VERSION} " in built
    assert f"--build-arg REVISION={checkout.git('rev-parse', 'HEAD')} " in built
    assert "--build-arg SOURCE=https://git.example/validation " in built
    assert signed == f"cosign sign --yes {IMAGE}@{DIGEST}"
    assert published.stdout == f"publish: {IMAGE}:{VERSION} is {IMAGE}@{DIGEST}\n"


def test_each_build_argument_is_in_the_dockerfile(checkout: Checkout) -> None:
    checkout.publish(IMAGE)
    arguments = re.findall(r"--build-arg (\w+)=", checkout.calls.read_text())
    declared = re.findall(r"^ARG (\w+)=", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert {"VERSION", "REVISION", "SOURCE"} == {*arguments} <= {*declared}


def test_commit_without_the_tag_of_its_version_is_refused(checkout: Checkout) -> None:
    (checkout.folder / "later").touch()
    checkout.commit()
    assert f"isn't tagged v{VERSION}" in checkout.publish(IMAGE).stderr
    assert not checkout.calls.exists()


def test_file_that_is_not_in_the_commit_is_refused(checkout: Checkout) -> None:
    (checkout.folder / "later").touch()
    assert "aren't in the release" in checkout.publish(IMAGE).stderr
    assert not checkout.calls.exists()


def test_version_without_a_section_in_the_changelog_is_refused(checkout: Checkout) -> None:
    (checkout.folder / "CHANGELOG.md").write_text("## Unreleased\n\nNews.\n")
    checkout.commit()
    checkout.git("tag", "--force", f"v{VERSION}")
    assert f"no section {VERSION}" in checkout.publish(IMAGE).stderr
    assert not checkout.calls.exists()


def test_notes_are_the_section_of_one_release(checkout: Checkout) -> None:
    (checkout.folder / "CHANGELOG.md").write_text(
        "# Changelog\n\n## Unreleased\n\nLater.\n\n## 1.1.0 – 2026-12-01\n\n### Fixed\n\n- One.\n\n"
        "## 1.0.0 – 2026-11-23\n\nFirst.\n"
    )
    notes = checkout.publish("--notes", "1.1.0").stdout
    assert notes == "## 1.1.0 – 2026-12-01\n\n### Fixed\n\n- One.\n\n"


def test_every_place_has_the_version_of_the_newest_release() -> None:
    sections = re.findall(
        r"^## (\d\S+) – \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.M
    )
    assert sections[0] == VERSION
    assert f"\nARG VERSION={VERSION}\n" in (ROOT / "Dockerfile").read_text()
    overlay = ROOT / "deploy" / "kubernetes" / "overlays" / "production" / "kustomization.yaml"
    (image,) = yaml.safe_load(overlay.read_text())["images"]
    assert image["newTag"] == VERSION
    assert settings.SPECTACULAR_SETTINGS["VERSION"] == settings.VERSION == VERSION


@pytest.mark.parametrize("name", SCHEMAS)
def test_job_has_the_form_of_its_system_and_runs_what_exists(name: str) -> None:
    assert not find_problems("check-jsonschema", *SCHEMAS[name], CI / name)
    text = (CI / name).read_text()
    programs = set(re.findall(r"\bdeploy/[\w/]+", text.replace(f"deploy/ci/{name}", "")))
    assert programs == {"deploy/publish"}
    assert (ROOT / "deploy/publish").stat().st_mode & 0o111 == 0o111
    assert all((ROOT / file).exists() for file in re.findall(r"\b[\w-]+\.(?:lock|toml)\b", text))


def test_actions_are_pinned_by_commit_and_the_job_has_only_the_rights_it_needs() -> None:
    workflow: dict[str, Any] = yaml.safe_load((CI / "github.yaml").read_text())
    (job,) = workflow["jobs"].values()
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert [action for action in used if not PINNED.fullmatch(action)] == []
    assert workflow["permissions"] == {
        "contents": "write",
        "packages": "write",
        "id-token": "write",
    }


def test_images_of_the_job_have_a_version() -> None:
    job = yaml.safe_load((CI / "gitlab.yaml").read_text())["publish"]
    for image in (job["image"], *job["services"]):
        assert re.fullmatch(r"docker:\d+\.\d+\.\d+-\w+", image)
