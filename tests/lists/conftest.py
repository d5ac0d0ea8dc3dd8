from tests.support.engine_dns import fake_dns, patient_dns
from tests.support.frozen_minute import freeze_time_but_not_processes

__all__ = ["fake_dns", "freeze_time_but_not_processes", "patient_dns"]
