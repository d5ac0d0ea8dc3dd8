"""Build the product's image without Docker: buildah in a chroot, on a base made by mmdebstrap."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.servers.product import ROOT

PROGRAMS = ("buildah", "mmdebstrap", "bwrap", "nsenter", "setpriv")
# What the official slim Python images contain, as far as the product needs it, and what they lack.
BASE_PACKAGES = "python3,python3-venv,ca-certificates"
EXCLUDED = ("doc", "locale", "man")
APT_SOURCES = ("sources.list", "sources.list.d/debian.sources", "sources.list.d/ubuntu.sources")
APT_OPTIONS = ("Acquire::Check-Valid-Until", "Acquire::Check-Date", "Acquire::http::Proxy")
BASES = ROOT / ".pytest_cache" / "image-bases"
NEXT_MIGRATION = """
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runtime", "{newest}")]
    operations = [migrations.RunSQL("CREATE TABLE next_release (id integer)")]
"""
BASE, PRODUCT = "localhost/base", "localhost/email-validation"


def require_programs() -> None:
    """Skip the test, with one line, where images can't be built."""
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    sources = [name for name in APT_SOURCES if Path("/etc/apt", name).exists()]
    if os.geteuid() == 0 and not missing and sources:
        return
    reason = f"Building images needs root, apt and {', '.join(PROGRAMS)}."
    if os.environ.get("JOURNEYS") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass(frozen=True)
class Image:
    # The folder with its files.
    root: Path
    # What a container engine reads: User, Env, Entrypoint, StopSignal, …
    config: dict[str, Any]

    def files(self, folder: str = ".") -> Iterator[Path]:
        return (path for path in (self.root / folder).rglob("*") if not path.is_symlink())

    def size(self, folder: str = ".") -> int:
        """Return the number of bytes of the files in the folder, each counted once."""
        files = [path.lstat() for path in self.files(folder) if path.is_file()]
        return sum({status.st_ino: status.st_size for status in files}.values())


class Builder:
    """buildah with a storage of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        settings = folder / "storage.conf"
        settings.write_text(
            f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/images"\nrunroot = "{folder}/run"\n'
        )
        self._environment = {
            **os.environ,
            "CONTAINERS_STORAGE_CONF": str(settings),
            "STORAGE_DRIVER": "vfs",
            "BUILDAH_ISOLATION": "chroot",
        }
        self._import_base()

    def build(self, tree: Path, name: str) -> Image:
        """Build the image of a checkout with its own Dockerfile."""
        tag = f"{PRODUCT}:{name}"
        # The format of Docker: that of OCI has no health check.
        options = ["--format=docker", "--layers=false", f"--build-arg=BASE={BASE}"]
        self._run("build", *options, *self._package_index(), f"--tag={tag}", str(tree))
        return self._open(tag)

    def base(self) -> Image:
        return self._open(BASE)

    def remove(self) -> None:
        self._run("rm", "--all")
        self._run("rmi", "--all", "--force")

    def _open(self, tag: str) -> Image:
        container = self._run("from", tag).strip()
        root = Path(self._run("mount", container).strip())
        document = json.loads(self._run("inspect", "--type=image", tag))
        return Image(root, document["Docker"]["config"])

    def _import_base(self) -> None:
        context = self.folder / "base"
        context.mkdir()
        (context / "base.tar").hardlink_to(_base_archive())
        (context / "Dockerfile").write_text("FROM scratch\nADD base.tar /\n")
        self._run("build", f"--tag={BASE}", str(context))

    def _package_index(self) -> list[str]:
        """Return options that let pip in the build use the machine's configuration.

        They leave no trace in the image: a secret, and mounts for the build only.
        """
        file = self.folder / "pip.conf"
        settings = _pip_settings()
        file.write_text("\n".join(["[global]", *(f"{n} = {v}" for n, v in settings.items()), ""]))
        paths = re.findall(r"(?:^|\s|file://)(/\S+)", "\n".join(settings.values()))
        # The files of an index are usually next to its pages.
        mounts = {str(Path(path).parent if path.endswith("/simple") else path) for path in paths}
        existing = sorted(path for path in mounts if Path(path).exists())
        return [f"--secret=id=pip,src={file}", *(f"--volume={p}:{p}:ro" for p in existing)]

    def _run(self, *arguments: str) -> str:
        process = subprocess.run(
            ["buildah", "--log-level=error", *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert process.returncode == 0, process.stdout[-2000:] + process.stderr[-2000:]
        return process.stdout


def _pip_settings() -> dict[str, str]:
    """Return pip's options from its configuration files and from the environment."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    pairs = re.findall(r"^(?:global|install|:env:)\.([\w-]+)=(.+)$", listed, re.M)
    return {name: str(ast.literal_eval(value)) for name, value in pairs}


def _base_archive() -> Path:
    """Return a minimal Debian with Python from the machine's own package sources.

    It is kept for later runs until the sources change.
    """
    sources = [Path("/etc/apt", name) for name in APT_SOURCES]
    existing = [path for path in sources if path.exists()]
    options = ["--quiet", "--variant=minbase", f"--include={BASE_PACKAGES}", *_apt_options()]
    options += [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in EXCLUDED]
    text = "".join([*options, *(path.read_text() for path in existing)])
    archive = BASES / f"{sha256(text.encode()).hexdigest()[:16]}.tar"
    if not archive.exists():
        shutil.rmtree(BASES, ignore_errors=True)
        BASES.mkdir(parents=True)
        unfinished = archive.with_suffix(".unfinished.tar")
        command = ["mmdebstrap", *options, _codename(), str(unfinished), *map(str, existing)]
        subprocess.run(command, check=True, capture_output=True)
        unfinished.rename(archive)
    return archive


def _apt_options() -> list[str]:
    """Return the machine's own options for its sources, which the base and the build need too."""
    command = ["apt-config", "dump", "--no-empty", "--format", '%f "%v";%n', *APT_OPTIONS]
    dumped = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [f"--aptopt={line}" for line in dumped.splitlines()]


def _codename() -> str:
    release = Path("/etc/os-release").read_text()
    match = re.search(r"^VERSION_CODENAME=(\w+)$", release, re.M)
    assert match
    return match[1]


@contextmanager
def image_builder(folder: Path) -> Iterator[Builder]:
    builder = Builder(folder)
    try:
        yield builder
    finally:
        builder.remove()


def export_next_release(folder: Path) -> Path:
    """Write the files of the last commit, and one more migration, into a new folder."""
    folder.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    newest = max((folder / "runtime" / "migrations").glob("0*.py"))
    newest.with_name("9999_next.py").write_text(NEXT_MIGRATION.format(newest=newest.stem))
    return folder
