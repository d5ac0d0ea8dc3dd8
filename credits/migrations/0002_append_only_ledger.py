"""Make the ledger append-only: triggers refuse every update and delete, from any client.

A migration that rebuilds this table on SQLite drops the triggers and has to create them again;
tests/credits/wallet/test_ledger.py fails otherwise.
"""

from django.db import migrations

MESSAGE = "The ledger is append-only."
REFUSE = f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
SQLITE = [
    f"CREATE TRIGGER ledger_is_not_changed BEFORE UPDATE ON credits_ledgerentry {REFUSE}",
    f"CREATE TRIGGER ledger_is_not_deleted BEFORE DELETE ON credits_ledgerentry {REFUSE}",
    # INSERT OR REPLACE deletes a row without firing the trigger above.
    "CREATE TRIGGER ledger_is_not_replaced BEFORE INSERT ON credits_ledgerentry WHEN EXISTS "
    "(SELECT 1 FROM credits_ledgerentry WHERE id = NEW.id OR source = NEW.source) " + REFUSE,
]
SQLITE_BACK = [
    "DROP TRIGGER ledger_is_not_changed",
    "DROP TRIGGER ledger_is_not_deleted",
    "DROP TRIGGER ledger_is_not_replaced",
]
POSTGRESQL = [
    "CREATE FUNCTION credits_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    f"RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'integrity_constraint_violation'; END; $$",
    "CREATE TRIGGER ledger_is_not_changed BEFORE UPDATE OR DELETE ON credits_ledgerentry "
    "FOR EACH ROW EXECUTE FUNCTION credits_refuse_change()",
    "CREATE TRIGGER ledger_is_not_emptied BEFORE TRUNCATE ON credits_ledgerentry "
    "FOR EACH STATEMENT EXECUTE FUNCTION credits_refuse_change()",
]
POSTGRESQL_BACK = [
    "DROP TRIGGER ledger_is_not_changed ON credits_ledgerentry",
    "DROP TRIGGER ledger_is_not_emptied ON credits_ledgerentry",
    "DROP FUNCTION credits_refuse_change()",
]


def create_triggers(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in POSTGRESQL if is_postgresql else SQLITE:
        schema_editor.execute(statement, params=None)


def drop_triggers(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in POSTGRESQL_BACK if is_postgresql else SQLITE_BACK:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("credits", "0001_initial")]

    operations = [migrations.RunPython(create_triggers, drop_triggers)]
