import tomllib
from pathlib import Path

MESSAGES: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


class UnreadableFile(Exception):
    """Raised if a file has no readable rows. `message` is for the customer."""

    def __init__(self, code: str, **details: int) -> None:
        numbers = {name: f"{number:,}" for name, number in details.items()}
        self.code = code
        self.details = details
        self.message = MESSAGES[code].format(**numbers)
        super().__init__(code)
