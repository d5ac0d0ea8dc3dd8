"""The files in which prometheus_client stores each process's metrics: create and merge them.

This keeps two promises that prometheus_client's multiprocess mode doesn't. A full disk never kills
a process: prometheus_client creates sparse files, and writing to a mapped page that has no room on
the disk raises SIGBUS, so the files are written in full before it maps them. And when a process has
ended, its counts stay but its files don't: they are merged into files for all ended processes.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from prometheus_client.mmap_dict import MmapedDict

# The process id in the names of the merged files. No process has it.
ENDED_PROCESSES = 0
# The size of a process's files, by type and multiprocess mode. prometheus_client would extend a
# full file by a sparse part, so they have room for many times the usual number of series, and for
# each route with each method.
FILE_BYTES: Mapping[str, int] = {
    "counter": 2 * 1024 * 1024,
    "histogram": 128 * 1024,
    "gauge_livesum": 64 * 1024,
    "gauge_livemax": 64 * 1024,
    "gauge_mostrecent": 64 * 1024,
}
# More than a series takes in addition to its key.
SERIES_BYTES = 32


def create_process_files(folder: Path, process: int) -> None:
    """Create the files of a process. Raise OSError if the disk has no room for them."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for kind, size in FILE_BYTES.items():
        path = folder / f"{kind}_{process}.db"
        # A file of an ended process that had the same id is continued.
        if not path.exists():
            _write_zeros(path.with_suffix(".new"), size).rename(path)


def merge_ended_processes(folder: Path) -> None:
    """Merge the files of ended processes. Only one process, the exporter's, may call this.

    While the disk has no room for the merged file, they stay.
    """
    for path in sorted(folder.glob("*.db")):
        kind, _, process = path.stem.rpartition("_")
        if not _is_alive(int(process)):
            with suppress(OSError):
                if not kind.startswith("gauge_live"):
                    _merge(path, folder / f"{kind}_{ENDED_PROCESSES}.db")
                path.unlink()


def _merge(source: Path, target: Path) -> None:
    is_gauge = source.name.startswith("gauge")
    series: dict[str, tuple[float, float]] = {}
    for path in filter(Path.exists, (target, source)):
        for key, value, at, _ in MmapedDict.read_all_values_from_file(str(path)):
            previous, last_at = series.get(key, (0.0, 0.0))
            if not is_gauge:
                series[key] = (previous + value, 0.0)
            elif at >= last_at:
                series[key] = (value, at)
    _write(target, series)


def _write(path: Path, series: Mapping[str, tuple[float, float]]) -> None:
    size = sum(len(key.encode()) + SERIES_BYTES for key in series)
    draft = _write_zeros(path.with_suffix(".new"), size + SERIES_BYTES)
    file = MmapedDict(str(draft))
    for key, (value, at) in series.items():
        file.write_value(key, value, at)
    file.close()
    draft.rename(path)


def _write_zeros(draft: Path, size: int) -> Path:
    """Write all bytes of a file. Readers don't see it before it's renamed."""
    try:
        draft.write_bytes(bytes(size))
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    return draft


def _is_alive(process: int) -> bool:
    if process == ENDED_PROCESSES:
        return True
    try:
        os.kill(process, 0)
    # PermissionError: the id belongs to another user's process by now.
    except (ProcessLookupError, PermissionError):
        return False
    return True
