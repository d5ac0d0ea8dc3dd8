"""The pools of web workers, which the reverse proxy chooses by path (deploy/nginx/nginx.conf).

Separate processes let the kernel decide which work goes first. Every process serves every path.
"""

import os
from typing import NamedTuple

_CORES = os.cpu_count() or 1


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
