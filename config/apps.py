from typing import Any

from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks

from config.deploy_checks import check_connections, check_examples


class StaffAdminConfig(SimpleAdminConfig):
    """Configure the admin. config/urls.py imports its modules: most commands don't need them."""

    default_site = "accounts.staff.site.StaffSite"

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(_check_admin, checks.Tags.admin)
        checks.register(check_examples, deploy=True)
        checks.register(check_connections, deploy=True)


def _check_admin(**options: Any) -> list[checks.CheckMessage]:
    # config/urls.py may not have been imported yet.
    autodiscover()
    return check_admin_app(**options)
