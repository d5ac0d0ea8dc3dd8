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
# Addresses per list and bytes of unfinished lists, for both.
LIST_LIMITS = [
    (10_000, 10 << 20),
    (100_000, 100 << 20),
    (1_000_000, 1 << 30),
    (10_000_000, 1 << 30),
]


def create_plans_and_packs(apps, schema_editor):
    plan, pack, counter = (
        apps.get_model("credits", name) for name in ("Plan", "Pack", "InvoiceCounter")
    )
    for (code, name, cents, credits, limit), (addresses, size) in zip(PLANS, LIST_LIMITS):
        plan.objects.create(
            code=code,
            name=name,
            price_cents=cents,
            monthly_credits=credits,
            requests_per_minute=limit,
            list_addresses=addresses,
            list_bytes=size,
        )
    for (credits, cents, limit), (addresses, size) in zip(PACKS, LIST_LIMITS):
        pack.objects.create(
            public_id=pack_id(),
            credits=credits,
            price_cents=cents,
            requests_per_minute=limit,
            list_addresses=addresses,
            list_bytes=size,
        )
    counter.objects.create(pk=1)


class Migration(migrations.Migration):
    dependencies = [("credits", "0002_append_only_ledger")]

    # Orders refer to these rows, so the reverse migration keeps them until their tables are dropped.
    operations = [migrations.RunPython(create_plans_and_packs, migrations.RunPython.noop)]
