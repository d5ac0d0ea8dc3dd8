"""Make the audit log append-only with database triggers.

The triggers allow only what erasure does. Deleting a user sets `actor` to NULL. The name, the
IP address, and targets that contain the user's address become "erased". The entries of an
account can be deleted once the account is marked as erased.

A later migration that rebuilds this table on SQLite drops its triggers and must create them again.
tests/accounts/audit/test_append_only.py fails otherwise.
"""

from django.db import migrations

MESSAGE = "The audit log is append-only."
TABLE = "accounts_auditentry"
# `same` is the operator that treats two NULLs as equal.
ERASURE = (
    "OLD.id {same} NEW.id AND OLD.account_id {same} NEW.account_id AND OLD.at {same} NEW.at "
    "AND OLD.action {same} NEW.action AND OLD.by_staff {same} NEW.by_staff "
    "AND (OLD.actor_id {same} NEW.actor_id OR NEW.actor_id IS NULL) "
    "AND ((OLD.actor_name {same} NEW.actor_name AND OLD.ip {same} NEW.ip) "
    "OR (NEW.actor_name = 'erased' AND NEW.ip IS NULL)) "
    "AND (OLD.target {same} NEW.target OR NEW.target = 'erased')"
)
OF_ERASED = (
    "EXISTS (SELECT 1 FROM accounts_account "
    "WHERE id = OLD.account_id AND erased_at IS NOT NULL)"
)
REFUSE = f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
SQLITE = [
    f"CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON {TABLE} "
    f"WHEN NOT ({ERASURE.format(same='IS')}) {REFUSE}",
    f"CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON {TABLE} WHEN NOT {OF_ERASED} {REFUSE}",
    # INSERT OR REPLACE deletes a row without firing the trigger above.
    f"CREATE TRIGGER audit_is_not_replaced BEFORE INSERT ON {TABLE} "
    f"WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id) {REFUSE}",
]
SQLITE_BACK = [
    "DROP TRIGGER audit_is_not_changed",
    "DROP TRIGGER audit_is_not_deleted",
    "DROP TRIGGER audit_is_not_replaced",
]
RAISE = f"RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'integrity_constraint_violation';"
POSTGRESQL = [
    "CREATE FUNCTION accounts_refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    f"{RAISE} END; $$",
    "CREATE FUNCTION accounts_refuse_audit_deletion() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    f"IF {OF_ERASED} THEN RETURN OLD; END IF; {RAISE} END; $$",
    f"CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON {TABLE} FOR EACH ROW "
    f"WHEN (NOT ({ERASURE.format(same='IS NOT DISTINCT FROM')})) "
    "EXECUTE FUNCTION accounts_refuse_audit_change()",
    f"CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON {TABLE} FOR EACH ROW "
    "EXECUTE FUNCTION accounts_refuse_audit_deletion()",
    f"CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON {TABLE} FOR EACH STATEMENT "
    "EXECUTE FUNCTION accounts_refuse_audit_change()",
]
POSTGRESQL_BACK = [
    f"DROP TRIGGER audit_is_not_changed ON {TABLE}",
    f"DROP TRIGGER audit_is_not_deleted ON {TABLE}",
    f"DROP TRIGGER audit_is_not_emptied ON {TABLE}",
    "DROP FUNCTION accounts_refuse_audit_change()",
    "DROP FUNCTION accounts_refuse_audit_deletion()",
]


def drop_triggers(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in POSTGRESQL_BACK if is_postgresql else SQLITE_BACK:
        schema_editor.execute(statement, params=None)


def create_triggers(apps, schema_editor):
    is_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in POSTGRESQL if is_postgresql else SQLITE:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [migrations.RunPython(create_triggers, drop_triggers)]
