"""Generate the table in docs/metrics.md: `python -m tests.support.docs_metrics --write`."""

import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import django
from django.contrib.admin import autodiscover
from prometheus_client import REGISTRY
from prometheus_client.metrics import MetricWrapperBase

from tests.bench.table import markdown, write_between_markers
from tests.servers.product import ROOT

DOCUMENT = ROOT / "docs" / "metrics.md"
BUILD_INFO = ("emailvalidation_build_info", ("version", "commit", "python", "django"))
SAMPLES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


@dataclass(frozen=True)
class DefinedMetric:
    name: str
    kind: str
    labels: tuple[str, ...]
    help_text: str
    # How the values of several processes are combined, for gauges.
    multiprocess_mode: str


def load_all_metrics() -> list[DefinedMetric]:
    """Import every module, because importing one registers its metrics, and return all metrics."""
    # Modules named admin replace the libraries' admin pages, which have to be registered first.
    autodiscover()
    for app in ("runtime", "accounts", "apikeys", "credits", "validation", "lists", "reference"):
        for module in pkgutil.walk_packages([str(ROOT / app)], f"{app}."):
            importlib.import_module(module.name)
    # prometheus_client's own collectors, which the product doesn't export, are of other classes.
    collectors = [c for c in REGISTRY._collector_to_names if isinstance(c, MetricWrapperBase)]
    return [_describe(collector) for collector in collectors]


def _describe(collector: MetricWrapperBase) -> DefinedMetric:
    (family,) = collector.describe()
    mode = getattr(collector, "_multiprocess_mode", "")
    labels = tuple(collector._labelnames)
    return DefinedMetric(family.name, family.type, labels, family.documentation, mode)


def sample_names() -> set[str]:
    """Return the name of every sample that an alert rule can refer to."""
    metrics = load_all_metrics()
    names = {metric.name + suffix for metric in metrics for suffix in SAMPLES[metric.kind]}
    return names | {BUILD_INFO[0]}


def render_table() -> str:
    return markdown([["metric", "kind", "labels", "description"], *sorted(_rows())])


def _rows() -> Iterator[list[str]]:
    for metric in load_all_metrics():
        name = f"{metric.name}_total" if metric.kind == "counter" else metric.name
        yield [f"`{name}`", metric.kind, _format_labels(metric.labels), metric.help_text]
    name, labels = BUILD_INFO
    help_text = "Always 1. The labels identify the build."
    yield [f"`{name}`", "gauge", _format_labels(labels), help_text]


def _format_labels(labels: tuple[str, ...]) -> str:
    return " ".join(f"`{label}`" for label in labels)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    if "--write" in sys.argv:
        write_between_markers(DOCUMENT, "the metrics", render_table())
    else:
        print(render_table())
