"""Staff see which endpoints of customers fail."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account, WebhookEndpoint
from tests.accounts.staff.staff_pages import client_in_group, front_page, panel_text
from tests.accounts.webhooks.deliveries import URL
from tests.accounts.webhooks.factory import make_endpoint

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def test_staff_see_failing_endpoints_without_the_path(account: Account) -> None:
    endpoint = make_endpoint(account, URL)
    staff = client_in_group("Support")
    assert "No webhook is failing." in panel_text(front_page(staff), "Failing webhooks")
    failing = {"failing_since": timezone.now() - timedelta(days=2), "failures": 1234}
    WebhookEndpoint.objects.update(**failing)
    usage = staff.get(f"/admin/usage/{account.public_id}/").content.decode()
    for panel in (panel_text(front_page(staff), "Failing webhooks"), panel_text(usage, "Webhooks")):
        assert f"shop.example ({endpoint.public_id}) Failing" in panel
        assert "1,234" in panel
        assert "/webhooks" not in panel
    WebhookEndpoint.objects.update(disabled_at=timezone.now(), disabled_reason="gone")
    assert "410 Gone" in panel_text(front_page(staff), "Failing webhooks")
