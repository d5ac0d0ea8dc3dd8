"""SENTRY_DSN and OpenTelemetry's variables are checked at start, and both are off without them."""

import sys
import tomllib
from importlib import import_module

import pytest

from config.settings.environment import Environment
from config.settings.telemetry import DEFAULT_TRACE_RATE, sentry_dsn, trace_rate
from tests.servers.product import ROOT

DSN = "https://0123456789abcdef@o1.ingest.errors.example/42"
ENDPOINT = "http://127.0.0.1:4318"


def traces(**variables: str) -> tuple[float | None, list[str]]:
    env = Environment(variables)
    return trace_rate(env), env.problems


def test_valid_dsn_is_accepted() -> None:
    env = Environment({"SENTRY_DSN": DSN})
    assert (sentry_dsn(env), env.problems) == (DSN, [])
    assert sentry_dsn(Environment({})) == ""


@pytest.mark.parametrize("dsn", ["on", "https://errors.example/42", DSN.removesuffix("42"), "key"])
def test_invalid_dsn_is_refused_without_repeating_it(dsn: str) -> None:
    env = Environment({"SENTRY_DSN": dsn})
    assert sentry_dsn(env) == ""
    assert env.problems == ["SENTRY_DSN must be of the form https://key@host/project."]


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("sentry_sdk", "opentelemetry.exporter.otlp.proto.http"):
        import_module(module)
        # Python's mark for a module that can't be imported.
        monkeypatch.setitem(sys.modules, module, None)
    env = Environment({"SENTRY_DSN": DSN, "OTEL_EXPORTER_OTLP_ENDPOINT": ENDPOINT})
    sentry_dsn(env)
    trace_rate(env)
    sentry, opentelemetry = env.problems
    assert sentry.startswith("SENTRY_DSN needs packages that aren't installed: ")
    assert "`sentry`" in sentry
    assert opentelemetry.startswith("OTEL_EXPORTER_OTLP_ENDPOINT needs packages")
    assert "`opentelemetry`" in opentelemetry


def test_traces_are_off_without_a_receiver() -> None:
    assert traces(OTEL_TRACES_SAMPLER_ARG="1") == (None, [])
    assert traces(OTEL_EXPORTER_OTLP_ENDPOINT=ENDPOINT, OTEL_SDK_DISABLED="true") == (None, [])


def test_one_request_in_a_hundred_is_traced_by_default() -> None:
    assert traces(OTEL_EXPORTER_OTLP_ENDPOINT=ENDPOINT) == (DEFAULT_TRACE_RATE, [])
    assert DEFAULT_TRACE_RATE == 0.01
    rate = {"OTEL_TRACES_SAMPLER_ARG": "0.25"}
    assert traces(OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=ENDPOINT, **rate) == (0.25, [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OTEL_TRACES_SAMPLER_ARG", "2"),
        ("OTEL_TRACES_SAMPLER", "always_on"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"),
    ],
)
def test_what_the_product_does_not_support_is_refused(name: str, value: str) -> None:
    _, problems = traces(**{"OTEL_EXPORTER_OTLP_ENDPOINT": ENDPOINT, name: value})
    (problem,) = problems
    assert problem.startswith(f"{name} must be ")


def test_optional_packages_are_pinned_for_the_command_in_the_handbook() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert set(extras) == {"sentry", "opentelemetry"}
    assert "-r deploy/requirements-extras.lock" in (ROOT / "docs" / "operations.md").read_text()
    pinned = (ROOT / "deploy/requirements-extras.lock").read_text()
    for requirement in extras["sentry"] + extras["opentelemetry"]:
        assert f"\n{requirement.partition('>')[0]}==" in pinned
