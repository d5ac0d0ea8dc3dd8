"""Read the metrics of the test process. Other tests have counted before."""

from prometheus_client import REGISTRY

from accounts.engine import get_engine
from runtime.metrics.client import before_each_flush

PREFIX = "emailvalidation_"

Labels = tuple[str, ...]


class Increases:
    """By how much samples have increased since this object was created."""

    def __init__(self) -> None:
        get_engine()
        self._before = _values()

    def of(self, sample: str) -> dict[Labels, float]:
        """Return the increases of a sample, by the values of its labels, without zeros."""
        name = f"{PREFIX}{sample}"
        increases = {
            key[1:]: value - self._before.get(key, 0)
            for key, value in _values().items()
            if key[0] == name
        }
        return {labels: increase for labels, increase in increases.items() if increase}


def _values() -> dict[tuple[str, ...], float]:
    """Return all values, by sample and the values of its labels."""
    for collect in before_each_flush:
        collect()
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in REGISTRY.collect()
        for sample in family.samples
    }
