"""compose's proxy: the configuration that its entry point writes, in an nginx on loopback."""

import os
import re
import subprocess
from pathlib import Path

from tests.servers.product import ROOT
from tests.servers.production import ENVIRONMENT
from tests.servers.reverse_proxy import ReverseProxy

PROXY = ROOT / "deploy" / "container" / "proxy"
CERTIFICATE = ("fullchain.pem", "privkey.pem")


def run_proxy(
    folder: Path, *, program: str = "#!/bin/sh\n", **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run the entry point with another nginx, which by default does nothing."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "nginx").write_text(program)
    (programs / "nginx").chmod(0o755)
    variables = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "NGINX_SOURCE": str(ROOT / "deploy" / "nginx" / "nginx.conf"),
        "NGINX_CERTIFICATES": str(folder),
        "NGINX_TARGET": str(folder / "written.conf"),
        "BASE_URL": ENVIRONMENT["BASE_URL"],
        "SUPPORT_EMAIL": ENVIRONMENT["SUPPORT_EMAIL"],
        **environment,
    }
    return subprocess.run([PROXY], env=variables, capture_output=True, text=True, check=False)


class ContainerProxy(ReverseProxy):
    def _read_shipped(self) -> str:
        """Return what the entry point writes, without what a container's nginx and network have."""
        for name in CERTIFICATE:
            (self.folder / name).write_text("not read")
        process = run_proxy(self.folder)
        assert process.returncode == 0, process.stderr
        text = (self.folder / "written.conf").read_text()
        # The names of other containers, and nginx 1.27.3 to look it up again.
        text = re.sub(r"resolver 127.*|zone .* 64k;", "", text)
        text = re.sub(r"server (api|bulk|pages):8000 resolve ", "server 127.0.0.1:8000 ", text)
        text = text.replace("user nginx;", "user www-data;").replace("/dev/stdout", "/dev/null")
        text = text.replace(f"{self.folder}/fullchain.pem", f"{self.folder}/proxy.pem")
        return text.replace(f"{self.folder}/privkey.pem", f"{self.folder}/proxy.key")
