from tests.frozen import freeze_time_but_not_processes

__all__ = ["freeze_time_but_not_processes"]
