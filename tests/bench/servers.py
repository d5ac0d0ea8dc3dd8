"""The servers that a measured product needs, and a folder for its data."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.bench.quick_resolver import QuickResolver, quick_resolver
from tests.servers.postgres import Postgres, postgres_server
from tests.servers.redis import Redis, redis_server


class Servers(NamedTuple):
    folder: Path
    resolver: QuickResolver
    postgres: Postgres
    redis: Redis

    @property
    def dns(self) -> dict[str, str]:
        return {"DNS_RESOLVERS": self.resolver.address}

    @property
    def environment(self) -> dict[str, str]:
        return {**self.dns, "DATABASE_URL": self.postgres.url, "REDIS_URL": self.redis.url}


@contextmanager
def servers(delay: float = 0.0005, *, slow_delay: float = 0) -> Iterator[Servers]:
    with (
        TemporaryDirectory(prefix="bench-") as folder,
        quick_resolver(delay, slow_delay=slow_delay) as resolver,
        postgres_server() as postgres,
        redis_server() as redis,
    ):
        yield Servers(Path(folder), resolver, postgres, redis)
