"""Find a server's web workers, their memory, and the CPU time of its processes."""

import psutil


def cpu_seconds(pids: list[int]) -> float:
    """Return the CPU time of processes and their descendants.

    Descendants that have ended count once their parents have reaped them.
    """
    return sum(_cpu(process) for pid in pids for process in _family(pid))


def workers(pid: int) -> list[psutil.Process]:
    """Return the web workers: gunicorn processes whose parent is a gunicorn process."""
    servers = [process for process in _family(pid) if "gunicorn" in " ".join(process.cmdline())]
    return [process for process in servers if process.parent() in servers]


def largest_worker_megabytes(pid: int) -> float:
    """Return the size of the largest web worker of this process."""
    return max(float(worker.memory_full_info().pss) for worker in workers(pid)) / 1e6


def _family(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)
