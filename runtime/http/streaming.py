from collections.abc import Generator
from itertools import chain
from typing import Any

from django.http import StreamingHttpResponse


class StartedStream(StreamingHttpResponse):
    """Until the first piece is ready, errors still get an error response."""

    def __init__(self, pieces: Generator[bytes], **options: Any) -> None:
        first = next(pieces, b"")
        super().__init__(chain([first], pieces), **options)
        # Ends the generator if the client disconnects.
        self._resource_closers.append(pieces.close)  # type: ignore[attr-defined]
