from typing import Any

from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class StaffAdminConfig(SimpleAdminConfig):
    """The admin, whose modules config/urls.py imports: most commands don't need them.

    Their forms and what these import are a quarter of the time that a command takes to start.
    """

    default_site = "accounts.staff.site.StaffSite"

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(_check_admin, checks.Tags.admin)


def _check_admin(**options: Any) -> list[checks.CheckMessage]:
    # Checks run in any order, so config/urls.py may not have been imported yet.
    autodiscover()
    return check_admin_app(**options)
