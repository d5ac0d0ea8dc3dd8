from typing import Any

from django.contrib.postgres import operations
from django.db import migrations


class AddIndexConcurrently(operations.AddIndexConcurrently):
    def database_forwards(self, app: str, editor: Any, before: Any, after: Any) -> None:
        _operation(editor).database_forwards(self, app, editor, before, after)

    def database_backwards(self, app: str, editor: Any, before: Any, after: Any) -> None:
        _operation(editor).database_backwards(self, app, editor, before, after)


def _operation(editor: Any) -> Any:
    is_postgresql = editor.connection.vendor == "postgresql"
    return operations.AddIndexConcurrently if is_postgresql else migrations.AddIndex
