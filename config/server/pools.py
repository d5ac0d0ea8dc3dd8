"""The pools of web workers, which the reverse proxy chooses by path (deploy/nginx/nginx.conf).

Separate processes let the kernel decide which work goes first. Every process serves every path.
"""

import math
import os
from pathlib import Path
from typing import NamedTuple


def count_cores(quota_file: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Return the number of cores, or the whole cores of a container's quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        quota, period = quota_file.read_text().split()
        cores = min(cores or 1, math.ceil(int(quota) / int(period)))
    # No file, or `max`.
    except (OSError, ValueError):
        pass
    return max(1, cores or 1)


_CORES = count_cores()


class Pool(NamedTuple):
    variable: str
    default_workers: int
    # Added to PORT.
    port_offset: int


POOLS = {
    # Single calls. `make serve` has only this pool, for everything.
    "api": Pool("WEB_WORKERS", _CORES, 0),
    # Batches, and lists and domains of the API.
    "bulk": Pool("BULK_WORKERS", max(1, _CORES // 2), 1),
    "pages": Pool("PAGE_WORKERS", max(1, _CORES // 2), 2),
}
