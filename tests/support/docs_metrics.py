"""Write the table of docs/metrics.md: `python -m tests.support.docs_metrics --write`."""

import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator

import django

from runtime.metrics.registry import Metric, all_metrics
from tests.bench.server import REPOSITORY
from tests.bench.table import markdown, write_between_markers

DOCUMENT = REPOSITORY / "docs" / "metrics.md"
BUILD_INFO = ("emailvalidation_build_info", ("version", "python", "django"))
SAMPLES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


def known() -> list[Metric]:
    """A metric is there when its module is loaded: all of them are."""
    for app in ("accounts", "apikeys", "credits", "validation"):
        for module in pkgutil.walk_packages([str(REPOSITORY / app)], f"{app}."):
            importlib.import_module(module.name)
    return list(all_metrics)


def sample_names() -> set[str]:
    """All that a rule may name."""
    return {one.name + ending for one in known() for ending in SAMPLES[one.kind]} | {BUILD_INFO[0]}


def table() -> str:
    return markdown([["metric", "kind", "labels", "it says"], *sorted(_rows())])


def _rows() -> Iterator[list[str]]:
    for one in known():
        name = f"{one.name}_total" if one.kind == "counter" else one.name
        yield [f"`{name}`", one.kind, _named(one.labels), one.says]
    name, labels = BUILD_INFO
    yield [f"`{name}`", "gauge", _named(labels), "Always 1; which program this is, by its labels."]


def _named(labels: tuple[str, ...]) -> str:
    return " ".join(f"`{label}`" for label in labels)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    if "--write" in sys.argv:
        write_between_markers(DOCUMENT, "the metrics", table())
    else:
        print(table())
