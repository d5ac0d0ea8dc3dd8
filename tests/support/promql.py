"""Find the metrics and labels that a PromQL expression uses, and compare them to the product's."""

import re
from collections.abc import Iterator

from tests.support.docs_metrics import BUILD_INFO, SAMPLES, load_all_metrics

# Prometheus adds these to every series.
TARGET_LABELS = {"job", "instance"}
_SELECTOR = re.compile(r"(?<![\w:])(emailvalidation_\w+|up)\b(?:\{([^{}]*)\})?")
_MATCHER = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"[^\"]*\"")
_GROUPING = re.compile(r"\b(?:by|on|without|ignoring)\s*\(([^()]*)\)")
_RECORDED = re.compile(r"\bjob:\w+:\w+")


def labels_by_sample() -> dict[str, set[str]]:
    """Return the labels of every sample that the product exports, and of Prometheus's `up`."""
    labels = {
        metric.name + suffix: {*metric.labels, *(("le",) if suffix == "_bucket" else ())}
        for metric in load_all_metrics()
        for suffix in SAMPLES[metric.kind]
    }
    return labels | {BUILD_INFO[0]: set(BUILD_INFO[1]), "up": set()}


def selectors(expression: str) -> list[tuple[str, set[str]]]:
    """Return each sample that the expression selects, with the labels it matches."""
    return [
        (match[1], set(_MATCHER.findall(match[2] or "")))
        for match in _SELECTOR.finditer(_GROUPING.sub("", expression))
    ]


def grouping_labels(expression: str) -> set[str]:
    groups = (match[1].split(",") for match in _GROUPING.finditer(expression))
    return {label.strip() for group in groups for label in group if label.strip()}


def recorded_names(expression: str) -> set[str]:
    return set(_RECORDED.findall(expression))


def mistakes(expression: str, known: dict[str, set[str]]) -> Iterator[str]:
    """Yield what the expression uses and no sample has."""
    found = selectors(expression)
    for name, labels in found:
        if name not in known:
            yield f"There is no {name}."
        else:
            unknown = labels - known[name] - TARGET_LABELS
            yield from (f"{name} has no label {label}." for label in sorted(unknown))
    available = TARGET_LABELS.union(*(known.get(name, set()) for name, _ in found))
    for label in sorted(grouping_labels(expression) - available):
        yield f"No metric of the expression has the label {label}."
