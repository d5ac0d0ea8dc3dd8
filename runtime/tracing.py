"""Unless a receiver is set, nothing is imported, and `traced` changes no function."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from random import random
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from uuid import uuid4

from django.conf import settings

if TYPE_CHECKING:
    from opentelemetry.trace import Span
    from opentelemetry.util.types import AttributeValue

    Attributes = Mapping[str, AttributeValue]

IS_ON: bool = settings.TRACES_REQUESTS
NAME = "email-validation"
_rate: float = settings.TRACE_RATE or 0.0

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

if IS_ON:
    from opentelemetry import trace
    from opentelemetry.context import Context

    _tracer = trace.get_tracer(NAME, settings.VERSION)


def start_exporting() -> None:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON

    resource = {
        "service.name": os.environ.get("OTEL_SERVICE_NAME") or NAME,
        "service.version": settings.VERSION,
        "service.instance.id": str(uuid4()),
        "deployment.environment.name": settings.ENVIRONMENT,
    }
    # is_sampled() decides.
    provider = TracerProvider(sampler=ALWAYS_ON, resource=Resource.create(resource))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def is_sampled() -> bool:
    """Decide whether to trace a request, faster than the SDK's sampler."""
    return random() < _rate  # noqa: S311


@contextmanager
def request_span(method: str) -> "Iterator[Span]":
    """Start a new trace: with `traceparent`, a caller could have every call sampled."""
    with _tracer.start_as_current_span(
        method,
        Context(),
        kind=trace.SpanKind.SERVER,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield span


@contextmanager
def child_span(name: str) -> "Iterator[Span]":
    parent = trace.get_current_span()
    if not parent.is_recording():
        yield parent
        return
    with _tracer.start_as_current_span(
        name, record_exception=False, set_status_on_exception=False
    ) as span:
        yield span


def traced(
    name: str, describe: "Callable[[Any], Attributes]"
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    def decorate(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        if not IS_ON:
            return function

        @wraps(function)
        def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            with child_span(name) as span:
                result = function(*args, **kwargs)
                if span.is_recording():
                    span.set_attributes(describe(result))
                return result

        return call

    return decorate
