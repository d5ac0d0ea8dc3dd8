"""PostgreSQL on simulated machines with addresses of their own, set up by the handbook's commands.

Each machine listens on a loopback address, as servers in one private network do, and on one port.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import psycopg

from tests.servers.postgres import kill_tree, process_tree
from tests.servers.redis import free_port
from tests.servers.runbook import Machine

PASSWORD = "invented"
# What an operator has done by "Installation": a role, its database, and a server that starts.
INITIALIZE = "initdb --username=postgres --auth=trust --encoding=UTF8 --no-instructions"
CREATE_DATABASE = f"""
psql -c "CREATE ROLE validation LOGIN PASSWORD '{PASSWORD}'"
createdb --owner=validation --encoding=UTF8 --template=template0 validation
"""
# The unit of Debian's package, which would listen on each address of a machine of its own.
SYSTEMCTL = """#!/bin/sh
case "$*" in *postgresql*) ;; *) exit ;; esac
pg_ctl() { command pg_ctl "$@" --wait --silent --log "$PGDATA/../server.log"; }
[ "$1" = start ] || ! pg_ctl status || pg_ctl stop --mode=fast
[ "$1" = stop ] || pg_ctl start -o "-c listen_addresses=$PGHOST"
"""


class PostgresMachine:
    def __init__(self, folder: Path, address: str, port: int) -> None:
        # PostgreSQL refuses to run as root.
        self.user = "nobody" if os.geteuid() == 0 else None
        self.address, self.port, self.data = address, port, folder / "data"
        self.machine = Machine(folder / "machine", user=self.user)
        self.machine.write_program("systemctl", SYSTEMCTL)
        for path in (folder, *folder.rglob("*")):
            shutil.chown(path, self.user or os.geteuid())
        self.variables = {
            "PGDATA": str(self.data),
            "PGHOST": address,
            "PGPORT": str(port),
            "PGUSER": "postgres",
            "PGDATABASE": "postgres",
            "PASSWORD": PASSWORD,
        }

    def execute(self, script: str, **variables: str) -> str:
        return self.machine.execute(script, {**self.variables, **variables})

    def run(self, name: str, **variables: str) -> str:
        """Run a block of the handbook on this machine."""
        return self.machine.run(name, **self.variables, **variables)

    def initialize(self) -> None:
        self.execute(INITIALIZE)
        with (self.data / "postgresql.conf").open("a") as conf:
            conf.write("unix_socket_directories = ''\n")
        hba = "local all all trust\nhost all postgres 127.0.0.0/8 trust\n"
        (self.data / "pg_hba.conf").write_text(
            f"{hba}host all validation 127.0.0.0/8 scram-sha-256\n"
        )
        self.start()

    def start(self) -> None:
        self.execute("systemctl start postgresql")

    def kill(self) -> None:
        kill_tree(self._postmaster())

    def freeze(self) -> None:
        """Suspend all processes: the server accepts connections but never replies."""
        for process in process_tree(self._postmaster()):
            process.suspend()

    def stop(self) -> None:
        """Kill the server if it runs."""
        with suppress(OSError, psutil.Error):
            self.kill()

    def fetch_value(self, query: str) -> object:
        with psycopg.connect(host=self.address, port=self.port, user="postgres") as database:
            row = database.execute(query).fetchone()
        return row[0] if row else None

    def _postmaster(self) -> int:
        return int((self.data / "postmaster.pid").read_text().split()[0])


@contextmanager
def postgres_machines(*addresses: str) -> Iterator[list[PostgresMachine]]:
    """Create the machines, each with a running server. The first has the product's database."""
    with TemporaryDirectory(prefix="machines-") as name, ExitStack() as stack:
        folder, port = Path(name), free_port()
        # Other users can't read pytest's temporary folders, nor those of this module.
        folder.chmod(0o711)
        machines = []
        for address in addresses:
            (folder / address).mkdir()
            machines.append(PostgresMachine(folder / address, address, port))
            stack.callback(machines[-1].stop)
            machines[-1].initialize()
        machines[0].execute(CREATE_DATABASE)
        yield machines


def database_url(*machines: PostgresMachine) -> str:
    """Return DATABASE_URL with the addresses of these machines, in this order."""
    hosts = ",".join(machine.address for machine in machines)
    if len(machines) == 1:
        return f"postgres://validation:{PASSWORD}@{hosts}:{machines[0].port}/validation"
    # The port of all, and what the settings add for psql and psycopg.
    query = f"port={machines[0].port}&target_session_attrs=read-write"
    return f"postgres://validation:{PASSWORD}@{hosts}/validation?{query}"
