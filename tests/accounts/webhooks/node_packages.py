"""The specification's npm package."""

import fcntl
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

from tests.servers.product import ROOT

SOURCE = Path(__file__).with_name("node")


def install_packages() -> Path:
    """Return the folder with node_modules, which stays until the lock file changes."""
    lock = (SOURCE / "package-lock.json").read_bytes()
    folder = ROOT / ".pytest_cache" / "node" / sha256(lock).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    # Another test may be installing them. An interrupted installation is repeated.
    with (folder / "installed").open("a+") as installed:
        fcntl.flock(installed, fcntl.LOCK_EX)
        if not installed.tell():
            for name in ("package.json", "package-lock.json"):
                shutil.copy(SOURCE / name, folder)
            command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            installed.write("yes")
    return folder
