"""A stand-in for systemd, which CI doesn't have: it runs services of the shipped units.

Like systemd, it holds the listening socket, passes it on with LISTEN_FDS, starts a service in the
folder to which a link leads at that moment, and waits until the service says that it is ready.
`systemctl` in `programs` is its client.
"""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer

from tests.servers.systemd import directives

CLIENT = f"""#!{sys.executable}
import json, socket, sys
with socket.socket(socket.AF_UNIX) as client:
    client.connect({{address!r}})
    client.sendall(json.dumps(sys.argv[1:]).encode() + b"\\n")
    sys.exit(int(client.recv(16)))
"""
# Runs a command with the socket as its first inherited one.
WITH_SOCKET = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execvp(sys.argv[2], sys.argv[2:])
"""
STOP_SECONDS = 50


class Service:
    def __init__(self, manager: "ServiceManager", name: str) -> None:
        self._manager = manager
        self._unit = name.partition("@")[0] + "@.service"
        self._notifications = manager.folder / f"{name}.notify"
        self.process: subprocess.Popen[bytes] | None = None
        self._is_stopping = False

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> bool:
        self._is_stopping = False
        folder = self._directive("WorkingDirectory").resolve()
        environment = dict(self._manager.environment)
        for line in directives(self._unit, "ExecStartPre"):
            if self._run(shlex.split(line), folder, environment).wait() != 0:
                return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications:
            self._notifications.unlink(missing_ok=True)
            notifications.bind(str(self._notifications))
            notifications.settimeout(0.1)
            environment["NOTIFY_SOCKET"] = str(self._notifications)
            (line,) = directives(self._unit, "ExecStart")
            with_socket = [sys.executable, "-c", WITH_SOCKET, str(self._manager.listener.fileno())]
            command = [*with_socket, *shlex.split(line)]
            process = self._run(command, folder, environment)
            while process.poll() is None:
                with suppress(TimeoutError):
                    return b"READY=1" in notifications.recv(1024)
        return False

    def _run(
        self, command: list[str], folder: Path, environment: dict[str, str]
    ) -> "subprocess.Popen[bytes]":
        with self._manager.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdout=log,
                stderr=log,
                pass_fds=[self._manager.listener.fileno()],
                start_new_session=True,
            )
        if self._is_stopping:
            self.process.terminate()
        return self.process

    def _directive(self, name: str) -> Path:
        (value,) = directives(self._unit, name)
        return Path(value.replace("/srv/email-validation", str(self._manager.program)))

    def stop(self) -> None:
        """End the main process, and then what is left: KillMode=mixed."""
        self._is_stopping = True
        if self.process is None:
            return
        if self.is_running:
            self.process.terminate()
            self.process.wait(STOP_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


class ServiceManager:
    def __init__(
        self, folder: Path, program: Path, port: int, log: Path, environment: dict[str, str]
    ) -> None:
        self.folder, self.program, self.log = folder, program, log
        self.programs = folder / "bin"
        self.programs.mkdir(parents=True)
        self.environment = {**environment, "WEB_POOL": "api"}
        self.listener = socket.create_server(("127.0.0.1", port), backlog=4096)
        self._services: dict[str, Service] = {}
        address = str(folder / "systemctl.sock")
        (self.programs / "systemctl").write_text(CLIENT.format(address=address))
        (self.programs / "systemctl").chmod(0o755)
        self._server = ThreadingUnixStreamServer(address, self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def service(self, name: str) -> Service:
        return self._services.setdefault(name, Service(self, name))

    def systemctl(self, *arguments: str) -> bool:
        """Run a command of systemctl for the web services. Others aren't loaded here."""
        command, *names = [word for word in arguments if not word.startswith("--")]
        services = [self.service(name) for name in names if "@api" in name]
        if command == "is-active":
            return any(service.is_running for service in self._services.values())
        if command in {"stop", "restart"}:
            for service in services:
                service.stop()
        return command not in {"start", "restart"} or all(each.start() for each in services)

    def stop(self) -> None:
        for service in self._services.values():
            service.stop()
        self._server.shutdown()
        self._server.server_close()
        self.listener.close()

    def _handler(manager) -> type[StreamRequestHandler]:  # noqa: N805
        class Handler(StreamRequestHandler):
            def handle(self) -> None:
                succeeded = manager.systemctl(*json.loads(self.rfile.readline()))
                # The client may have been interrupted.
                with suppress(OSError):
                    self.wfile.write(b"0" if succeeded else b"1")

        return Handler
