from accounts.engine import get_engine
from accounts.webhooks.queues import Queues
from runtime.management.process import ProcessCommand


class Command(ProcessCommand):
    help = (
        "Numbers events and sends webhooks until stopped. Any number of these processes share the "
        "work."
    )
    role = "webhooks"

    def run(self) -> None:
        get_engine()
        self.run_queue(Queues(), pause_seconds=0.5)
