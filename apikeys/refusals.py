import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class ApiRefusal:
    status: int
    type: str
    message: str
    # For the errors page.
    cause: str
    cure: str
    # Of sample responses.
    param: str | None = None
    details: Mapping[str, object] = field(default_factory=dict)


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
REFUSALS = {code: ApiRefusal(**values) for code, values in _TABLE.items()}
