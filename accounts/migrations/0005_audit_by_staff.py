from django.db import migrations, models
from django.db.models import Exists, OuterRef


def mark_earlier(apps, schema_editor):
    """As it would have been marked then, as far as it is known now."""
    Entry, Membership = (apps.get_model("accounts", name) for name in ("AuditEntry", "Membership"))
    own = Membership.objects.filter(account=OuterRef("account"), user=OuterRef("actor"))
    by_staff = Entry.objects.filter(actor__is_staff=True).exclude(account=None)
    by_staff.filter(~Exists(own)).update(by_staff=True)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_log_since")]

    operations = [
        # With a default of the database's own: also a worker of the version before can write.
        migrations.AddField(
            model_name="auditentry",
            name="by_staff",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunPython(mark_earlier, migrations.RunPython.noop),
    ]
