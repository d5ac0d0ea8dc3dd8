from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import OuterRef, Subquery

CHANGES = ("user.password_changed", "user.password_set", "user.password_reset")


def fill_in_password_changes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Read from the audit log when users last changed their passwords."""
    entries = apps.get_model("accounts", "AuditEntry").objects.filter(action__in=CHANGES)
    latest = entries.filter(actor=OuterRef("pk")).order_by("-at").values("at")[:1]
    users = apps.get_model("accounts", "User").objects.filter(pk__in=entries.values("actor"))
    users.update(password_changed_at=Subquery(latest))


class Migration(migrations.Migration):
    harmless_because = "the new columns are null, and running code doesn't read them"

    dependencies = [
        ("accounts", "0004_domains"),
    ]

    operations = [
        migrations.AddField(
            model_name="account",
            name="second_factor_required_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="user",
            name="password_changed_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.RunPython(fill_in_password_changes, migrations.RunPython.noop),
    ]
