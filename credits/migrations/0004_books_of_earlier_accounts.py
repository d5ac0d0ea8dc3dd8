"""Accounts that are older than the credits begin with none: nobody knows any more whose address was
confirmed first. Staff grant what is due, and the first purchase brings Free's monthly credits."""

from datetime import UTC, datetime

from django.db import migrations


def fill(apps, schema_editor):
    today = datetime.now(UTC).date()
    free = apps.get_model("credits", "Plan").objects.get(code="free")
    for account in apps.get_model("accounts", "Account").objects.filter(wallet=None):
        apps.get_model("credits", "Wallet").objects.create(account=account)
        apps.get_model("credits", "Subscription").objects.create(
            account=account,
            plan=free,
            next_plan=free,
            started_on=today,
            topped_up_until=today,
        )


class Migration(migrations.Migration):
    dependencies = [("credits", "0003_append_only_ledger")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
