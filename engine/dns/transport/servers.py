import socket
from typing import NamedTuple


class Server(NamedTuple):
    host: str
    port: int = 53

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET

    @property
    def address(self) -> tuple[str, int]:
        return self.host, self.port


def parse_server(text: str) -> Server:
    """Accept 127.0.0.1, 127.0.0.1:5353, ::1 or [::1]:5353."""
    if text.count(":") > 1 and not text.startswith("["):
        return Server(text)
    host, _, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not host:
        host, port = port, ""
    return Server(host.strip("[]"), int(port or 53))


def system_servers() -> list[Server]:
    # Slow to import, and needed once.
    import dns.resolver

    try:
        system = dns.resolver.Resolver()
    except (dns.resolver.NoResolverConfiguration, OSError):
        return []
    return [parse_server(f"[{host}]:{system.port}") for host in map(str, system.nameservers)]
