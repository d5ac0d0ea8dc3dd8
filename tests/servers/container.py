"""A container of the product's image, started like a container engine would start it.

The image's configuration decides on the user, the environment, the command and the signal that
stops it. The root file system is read-only; the process has no capabilities, its own process ids,
and the network of this machine, where the tests' PostgreSQL and Redis are.
"""

import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakSet

import psutil

from tests.servers.image import Image
from tests.servers.product import Product
from tests.servers.redis import free_port

NAMESPACES = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")


class Container(Product):
    def __init__(self, image: Image, volume: Path, *command: str, **environment: str) -> None:
        """Start the command, or the image's own. The volume is its folder for data."""
        self.image, self.command = image, command
        self.folder, self.log = volume, volume.parent / f"{volume.name}.log"
        self.callers = WeakSet()
        self.port = int(environment.get("PORT", "") or free_port())
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {"PORT": str(self.port), **environment}
        if not volume.exists():
            # As in a new volume, with the owner and mode that the image's folder has.
            subprocess.run(["cp", "-a", image.root / "data", volume], check=True)
        self.log.unlink(missing_ok=True)
        with self.log.open("ab") as log:
            self.process = self.launch(log.fileno(), log.fileno())

    def launch(self, output: int, errors: int) -> "subprocess.Popen[bytes]":
        user, _, group = self.image.config["User"].partition(":")
        entry_point = self.image.config["Entrypoint"]
        become = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups"]
        become += ["--bounding-set=-all", "--inh-caps=-all"]
        command = [*become, *entry_point, *(self.command or self.image.config["Cmd"])]
        return subprocess.Popen([*self._isolate(), *command], stdout=output, stderr=errors)

    @property
    def init(self) -> psutil.Process:
        """The container's first process. bubblewrap starts it, and watches it."""
        deadline = time.monotonic() + 60
        while not (children := psutil.Process(self.process.pid).children()):
            assert time.monotonic() < deadline, self.output()
            time.sleep(0.01)
        return children[0]

    def processes(self) -> list[psutil.Process]:
        return [self.init, *self.init.children(recursive=True)]

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=2) as response:
                return bool(response.status == 200)
        except OSError:
            return False

    def execute(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """Run a command in the running container, as `docker exec` does."""
        user, _, group = self.image.config["User"].partition(":")
        enter = ["nsenter", f"--target={self.init.pid}", "--mount", "--pid", "--ipc", "--uts"]
        # Its root folder is that of the container only after it has entered the namespace.
        enter += ["--root", "--wd", f"--setuid={user}", f"--setgid={group}"]
        environment = ["env", "-i", *(f"{n}={v}" for n, v in self._variables().items())]
        process = [*enter, *environment, *command]
        return subprocess.run(process, capture_output=True, text=True, check=False)

    def stop(self) -> None:
        """Send the image's signal, and wait."""
        for caller in list(self.callers):
            caller.close()
        if self.process.poll() is None:
            self.init.send_signal(signal.Signals[self.image.config["StopSignal"]])
        self.process.wait(timeout=60)

    def _variables(self) -> dict[str, str]:
        own = dict(pair.split("=", 1) for pair in self.image.config["Env"])
        return {**own, **self.environment}

    def _isolate(self) -> list[str]:
        command = ["bwrap", *NAMESPACES, "--as-pid-1", "--die-with-parent", "--clearenv"]
        command += ["--ro-bind", str(self.image.root), "/", "--proc", "/proc", "--dev", "/dev"]
        command += ["--perms", "1777", "--tmpfs", "/tmp", "--bind", str(self.folder), "/data"]  # noqa: S108
        command += ["--ro-bind", "/etc/resolv.conf", "/etc/resolv.conf"]
        for name, value in self._variables().items():
            command += ["--setenv", name, value]
        # For `setpriv`, which gives them up.
        kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
        capabilities = [word for name in kept for word in ("--cap-add", name)]
        command += ["--chdir", self.image.config["WorkingDir"], "--cap-drop", "ALL"]
        return [*command, *capabilities, "--"]


@contextmanager
def container(image: Image, volume: Path, *command: str, **environment: str) -> Iterator[Container]:
    """Run a container that serves."""
    running = Container(image, volume, *command, **environment)
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.stop()


def run_container(image: Image, volume: Path, *command: str, **environment: str) -> tuple[int, str]:
    """Run a command in a new container; return its exit status and what it prints."""
    started = Container(image, volume, *command, **environment)
    status = started.process.wait(timeout=120)
    return status, started.output()
