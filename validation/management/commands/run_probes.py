from django.conf import settings
from django.core.management.base import CommandError

from accounts.engine import get_engine
from runtime.management.process import ProcessCommand
from validation.probes.egress import move_probes
from validation.probes.queue import ProbeQueue


class Command(ProcessCommand):
    help = (
        "Asks mail servers whether mailboxes exist, until stopped. Any number of these processes "
        "share the work."
    )
    role = "probes"

    def run(self) -> None:
        if not settings.PROBE_MAILBOX_CHECKS:
            raise CommandError("Mailbox checks are off. Set PROBE_MAILBOX_CHECKS=on to run them.")
        get_engine()
        move_probes()
        self.run_queue(ProbeQueue(), pause_seconds=0.25)
