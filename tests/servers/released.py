"""The product in release folders, installed and upgraded by deploy/release."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tests.servers.product import PACKAGES, ROOT, Product
from tests.servers.service_manager import ServiceManager

SERVICE, UPGRADE = "email-validation-web@api", "email-validation-upgrade@api"
FILES = ("manage.py", "pyproject.toml", "requirements.lock", "Makefile", "CHANGELOG.md")
FOLDERS = (*PACKAGES, "static", "templates", "deploy")
# The packages of this environment. An installation would download them.
MAKE = f'#!/bin/sh\nln -s "{sys.prefix}"/* .venv/\ntouch .venv/.product\n'
AUTHOR = ("-c", "user.name=Developer", "-c", "user.email=developer@shop.example")


class ReleasedProduct(Product):
    def __init__(self, folder: Path, **environment: str) -> None:
        self.program, self._repository = folder / "srv", folder / "developer"
        self._create_repository()
        super().__init__(folder / "data", errors=None, **environment)

    def launch(self, output: int, errors: int) -> "subprocess.Popen[bytes]":
        self.manager = ServiceManager(
            self.folder.parent / "machine",
            self.program,
            self.port,
            self.log,
            self.process_environment,
        )
        (self.manager.programs / "make").write_text(MAKE)
        (self.manager.programs / "make").chmod(0o755)
        self.manager.programs.joinpath("release").write_text(self._script())
        assert self.release(self.commit()).wait() == 0
        assert self.manager.systemctl("start", SERVICE), self.output()
        process = self.manager.service(SERVICE).process
        assert process
        return process

    def _create_repository(self) -> None:
        self._repository.mkdir(parents=True)
        for name in FILES:
            shutil.copy(ROOT / name, self._repository)
        for name in FOLDERS:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, self._repository / name, ignore=ignored)
        self._git("init", "--quiet", "--initial-branch=main")
        self.commit()
        self.program.mkdir()
        self._git("clone", "--quiet", "--mirror", ".", str(self.program / "repository"))

    def _script(self) -> str:
        """Return deploy/release for this folder, and for one pool, which two cores carry."""
        text = (ROOT / "deploy" / "release").read_text()
        text = text.replace("/srv/email-validation", str(self.program))
        text = text.replace("/etc/", f"{self.folder.parent}/machine/etc/")
        for pool in ("bulk", "pages"):
            text = text.replace(f" email-validation-web@{pool}", "")
            text = text.replace(f" email-validation-upgrade@{pool}", "")
        return text

    def _git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *AUTHOR, *arguments],
            cwd=self._repository,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def commit(self) -> str:
        self._git("add", "--all", "--force")
        self._git("commit", "--quiet", "--allow-empty", "--message=Change the product.")
        return self._git("rev-parse", "HEAD")

    def commit_broken_code(self) -> str:
        wsgi = self._repository / "config" / "wsgi.py"
        text = wsgi.read_text()
        wsgi.write_text("raise RuntimeError")
        commit = self.commit()
        wsgi.write_text(text)
        return commit

    def release(self, *arguments: str) -> "subprocess.Popen[bytes]":
        environment = {"PATH": f"{self.manager.programs}:{os.environ['PATH']}", "HOME": "/"}
        with self.log.open("ab") as log:
            return subprocess.Popen(
                ["sh", str(self.manager.programs / "release"), *arguments],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @staticmethod
    def interrupt(release: "subprocess.Popen[bytes]") -> int:
        """Press Ctrl-C, and return the exit status."""
        os.killpg(release.pid, signal.SIGINT)
        return release.wait(100)

    def stop(self) -> None:
        for caller in list(self.callers):
            caller.close()
        self.manager.stop()
