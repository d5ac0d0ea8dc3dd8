"""The next release of the product: the same code with one more migration."""

import os
import subprocess
import sys
from pathlib import Path

from tests.servers.product import ROOT, Product
from tests.support.waiting import wait_until

SETTINGS = 'from config.settings import *\nINSTALLED_APPS = [*INSTALLED_APPS, "{name}"]\n'
MIGRATION = """
from django.db import migrations


class Migration(migrations.Migration):
    atomic = {atomic}
    initial = True
    dependencies = [("validation", "0001_initial"), ("credits", "0001_initial")]
    operations = [migrations.RunSQL({statement!r})]
"""


class Release:
    def __init__(
        self, folder: Path, statement: str, *, name: str = "later", atomic: bool = True
    ) -> None:
        self.folder = folder
        migrations = folder / name / "migrations"
        migrations.mkdir(parents=True)
        (folder / "release_settings.py").write_text(SETTINGS.format(name=name))
        for package in (migrations, migrations.parent):
            (package / "__init__.py").touch()
        text = MIGRATION.format(statement=statement, atomic=atomic)
        (migrations / "0001_change.py").write_text(text)

    def migrate(self, site: Product) -> "subprocess.Popen[bytes]":
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(self.folder),
            "DJANGO_SETTINGS_MODULE": "release_settings",
            **site.environment,
        }
        command = [sys.executable, "manage.py", "migrate"]
        with (self.folder / "output").open("w") as output:
            return subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=output, stderr=output
            )

    def wait_for_output(self, text: str) -> None:
        wait_until(lambda: text in self.output())

    def output(self) -> str:
        return (self.folder / "output").read_text()
