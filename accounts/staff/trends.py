from django.db.models import Count
from django.db.models.functions import TruncDate

from accounts.models import Account
from accounts.presenters.stats import Stat, show_trend, trend_start
from accounts.staff.links import admin_list_url
from accounts.staff.panels import require_staff_permissions
from runtime.dates import midnight


@require_staff_permissions("accounts.view_account")
def sign_up_trend() -> list[Stat]:
    accounts = Account.objects.filter(created_at__gte=midnight(trend_start())).order_by()
    days = accounts.values_list(TruncDate("created_at")).annotate(number=Count("pk"))
    return [show_trend("New accounts", dict(days), url=admin_list_url(Account))]
