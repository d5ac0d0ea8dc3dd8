from django.db.models import F

from accounts.models import Account, WebhookEndpoint
from accounts.staff.links import account_cell
from accounts.staff.panels import MAX_ROWS, Cell, Panel, require_staff_permissions


@require_staff_permissions("accounts.view_account")
def webhooks_panel() -> Panel:
    webhooks = WebhookEndpoint.objects.filter(account__closed_at=None).select_related("account")
    failing = webhooks.exclude(failing_since=None) | webhooks.disabled_automatically()
    oldest = failing.order_by(F("failing_since").asc(nulls_last=True), "pk")[:MAX_ROWS]
    return Panel(
        "Failing webhooks",
        "No webhook is failing.",
        columns=("Account", "Webhook", "State", "Failing since", "Failures"),
        rows=[[account_cell(endpoint.account), *_cells(endpoint)] for endpoint in oldest],
        is_work=True,
    )


@require_staff_permissions("accounts.view_account", tab="Keys and webhooks")
def account_webhooks_panel(account: Account) -> Panel:
    return Panel(
        "Webhooks",
        "No webhooks.",
        columns=("Webhook", "State", "Failing since", "Failures"),
        rows=[_cells(endpoint) for endpoint in account.webhooks.all()],
    )


def _cells(endpoint: WebhookEndpoint) -> list[Cell]:
    """Show only the host: a URL's path may be secret."""
    state = Cell("Failing", tone="warning") if endpoint.is_failing else Cell("Active")
    if endpoint.disabled_reason:
        state = Cell(endpoint.get_disabled_reason_display(), tone="bad")
    return [Cell(str(endpoint)), state, Cell(endpoint.failing_since), Cell(endpoint.failures)]
