from django.db import connection


def connect_for_account(account_id: int) -> None:
    """Raise AccountBusy if the account has too many connections."""
    if connection.settings_dict["OPTIONS"].get("pool") and not connection.in_atomic_block:
        connection.connect_for_account(account_id)  # type: ignore[attr-defined]


def release_connection() -> None:
    """Call this before a long wait."""
    if connection.settings_dict["OPTIONS"].get("pool") and not connection.in_atomic_block:
        connection.close()
