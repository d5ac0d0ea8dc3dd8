import json
from pathlib import Path


def load_accuracy() -> dict[str, object]:
    """Load what `make accuracy` measured, such as `75.6%` and `of 22,008`."""
    document = json.loads((Path(__file__).parent / "accuracy.json").read_text())
    figures = {
        name: {"count": f"{count:,}", "total": f"{total:,}", "share": f"{count / total:.1%}"}
        for name, (count, total) in document["figures"].items()
    }
    return {**document, **figures}
