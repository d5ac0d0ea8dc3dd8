"""The product's settings with views and background work that crash."""

from config.settings import *  # noqa: F403

ROOT_URLCONF = "tests.config.telemetry.failing"
ON_WORKER_ROUND = ["tests.config.telemetry.failing.crash_in_the_background"]
