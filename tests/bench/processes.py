"""What servers cost: the CPU of a process and of all that it started, and its web workers."""

import psutil


def cpu_seconds(pids: list[int]) -> float:
    """Also of those that have ended meanwhile, as far as their parents have noticed."""
    return sum(_cpu(process) for pid in pids for process in _family(pid))


def workers(pid: int) -> list[psutil.Process]:
    """Those that serve: the children of gunicorn's first process."""
    servers = [one for one in _family(pid) if "gunicorn" in " ".join(one.cmdline())]
    return [one for one in servers if one.parent() in servers]


def _family(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)
