from tests.support.frozen_minute import freeze_time_but_not_processes

__all__ = ["freeze_time_but_not_processes"]
