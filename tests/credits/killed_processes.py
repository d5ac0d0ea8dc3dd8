"""Products on either database, and processes that work on an account until they are killed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.servers.product import ROOT, Product, migrated_postgres, product


@contextmanager
def product_on(database: str, folder: Path, **options: str) -> Iterator[Product]:
    """Start the product on "sqlite" or "postgresql"."""
    with ExitStack() as stack:
        if database == "postgresql":
            options["DATABASE_URL"] = stack.enter_context(migrated_postgres())
        yield stack.enter_context(product(folder, **options))


def start_process(
    module: str, site: Product, account_id: str, **environment: str
) -> subprocess.Popen[str]:
    """Run a module with the account's id as its argument, in the product's environment."""
    return subprocess.Popen(
        [sys.executable, "-m", module, account_id],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "config.settings",
            **site.environment,
            **environment,
        },
        stdout=subprocess.PIPE,
        text=True,
    )
