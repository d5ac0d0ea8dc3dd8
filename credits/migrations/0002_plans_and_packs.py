"""Create the initial plans and packs. Staff edit them from then on."""

from django.db import migrations

from credits.models.catalog import pack_id

PLANS = [
    ("free", "Free", 0, 100, 60),
    ("starter", "Starter", 1_500, 5_000, 300),
    ("growth", "Growth", 9_900, 50_000, 1_200),
    ("scale", "Scale", 59_000, 500_000, 6_000),
]
PACKS = [
    (1_000, 500, 300),
    (10_000, 3_500, 600),
    (100_000, 22_500, 1_200),
    (1_000_000, 120_000, 6_000),
]


def create_plans_and_packs(apps, schema_editor):
    for code, name, cents, credits, limit in PLANS:
        apps.get_model("credits", "Plan").objects.get_or_create(
            code=code,
            defaults={
                "name": name,
                "price_cents": cents,
                "monthly_credits": credits,
                "requests_per_minute": limit,
            },
        )
    for credits, cents, limit in PACKS:
        apps.get_model("credits", "Pack").objects.get_or_create(
            credits=credits,
            defaults={
                "public_id": pack_id(),
                "price_cents": cents,
                "requests_per_minute": limit,
            },
        )
    apps.get_model("credits", "InvoiceCounter").objects.get_or_create(pk=1)


class Migration(migrations.Migration):
    dependencies = [("credits", "0001_initial")]

    # Orders refer to these rows, so the reverse migration keeps them until their tables are dropped.
    operations = [migrations.RunPython(create_plans_and_packs, migrations.RunPython.noop)]
