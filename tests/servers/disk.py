"""Two ways to fill a product's disk and to free space again."""

import errno
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


class SmallDisk:
    """A small tmpfs. Only root can mount it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        with self._filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError as error:
                assert error.errno == errno.ENOSPC

    def free_space(self) -> None:
        self._filler.unlink()


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[SmallDisk | None]:
    """Mount a small disk, or yield None where that isn't allowed."""
    folder.mkdir(parents=True)
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


class FileLimit:
    """A kernel limit that lets the processes write only the first 16 KB of each file."""

    def __init__(self, pids: Callable[[], list[int]]) -> None:
        self._pids = pids

    def fill(self) -> None:
        self._set(16 * 1024)

    def free_space(self) -> None:
        self._set(resource.RLIM_INFINITY)

    def _set(self, limit: int) -> None:
        for pid in self._pids():
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, hard))
