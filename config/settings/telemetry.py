from importlib.util import find_spec

from config.settings.environment import Environment

_SENTRY_DSN = r"https?://[^/@\s]+@[^/@\s]+(/[^/@\s]+)*/[0-9]+/?"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
DEFAULT_TRACE_RATE = 0.01


def sentry_dsn(env: Environment) -> str:
    dsn = env.matching(
        "SENTRY_DSN", "", _SENTRY_DSN, "must be of the form https://key@host/project."
    )
    if dsn and not _is_installed("sentry_sdk"):
        env.report("SENTRY_DSN", _missing("sentry"))
    return dsn


def trace_rate(env: Environment) -> float | None:
    """Return the share of requests to trace, or None without a destination."""
    destination = next(filter(env.is_set, _ENDPOINTS), None)
    if destination is None or env.flag("OTEL_SDK_DISABLED", False):
        return None
    env.matching(destination, "", r"https?://\S+", "must be the URL of an OTLP/HTTP receiver.")
    env.choice("OTEL_TRACES_SAMPLER", "parentbased_traceidratio", ("parentbased_traceidratio",))
    env.choice("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", ("http/protobuf",))
    if not _is_installed("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"):
        env.report(destination, _missing("opentelemetry"))
    return env.number("OTEL_TRACES_SAMPLER_ARG", DEFAULT_TRACE_RATE, minimum=0, maximum=1)


def _missing(extra: str) -> str:
    return (
        f"needs packages that aren't installed: the optional dependencies `{extra}`. "
        "docs/operations.md, “Error tracking and tracing”, has the command."
    )


def _is_installed(*modules: str) -> bool:
    try:
        return all(find_spec(module) is not None for module in modules)
    # Its parent package is missing.
    except ModuleNotFoundError:
        return False
