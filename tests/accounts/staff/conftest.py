from tests.credits.conftest import freeze_time_but_not_processes, order, pack

__all__ = ["freeze_time_but_not_processes", "order", "pack"]
