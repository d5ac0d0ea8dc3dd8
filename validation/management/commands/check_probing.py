from typing import Any

from django.core.management.base import BaseCommand, CommandError

from validation.probes.readiness import check_requirements


class Command(BaseCommand):
    help = (
        "Checks whether this machine may ask mail servers about mailboxes, and says what is "
        "missing: names, SPF, port 25 and mailboxes. Run it before PROBE_MAILBOX_CHECKS=on."
    )

    def handle(self, **_: Any) -> None:
        missing = 0
        for requirement in check_requirements():
            mark = "missing" if requirement.problem else "ok"
            self.stdout.write(f"{mark:8} {requirement.name}")
            if requirement.problem:
                missing += 1
                self.stdout.write(f"         {requirement.problem}")
        if missing:
            raise CommandError(f"{missing} missing. Leave PROBE_MAILBOX_CHECKS off until then.")
        self.stdout.write("Everything is ready. Set PROBE_MAILBOX_CHECKS=on.")
