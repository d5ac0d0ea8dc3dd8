"""compose's proxy: its entry point changes the shipped nginx.conf, or says what is missing."""

import re
import subprocess
from pathlib import Path

import pytest

from config.server.pools import POOLS
from tests.servers.container_proxy import CERTIFICATE, run_proxy
from tests.servers.production import ENVIRONMENT

pytestmark = pytest.mark.anywhere


def test_proxy_changes_what_the_first_lines_of_the_file_name(tmp_path: Path) -> None:
    for name in CERTIFICATE:
        (tmp_path / name).write_text("not read")
    process = run_proxy(
        tmp_path,
        BASE_URL="https://api.shop.example:8443",
        SUPPORT_EMAIL="help@shop.example",
        ANONYMOUS_REQUESTS_PER_MINUTE="90",
    )
    assert (process.returncode, process.stderr) == (0, "")
    written = (tmp_path / "written.conf").read_text()
    assert "validation.example" not in written.partition("http {")[2]
    assert written.count("server_name api.shop.example;") == 2
    assert 'map "" $site { default "api.shop.example:8443"; }' in written
    assert 'map "" $support_email { default "help@shop.example"; }' in written
    assert 'map "" $address_limit { default 90; }' in written
    for pool in POOLS:
        assert f"upstream {pool} {{\n        zone {pool} 64k;" in written
        assert f"server {pool}:8000 resolve max_fails=3" in written
    assert f"ssl_certificate {tmp_path}/fullchain.pem;" in written
    assert f"ssl_certificate_key {tmp_path}/privkey.pem;" in written
    assert "\nuser nginx;\n" in written
    assert "/var/log" not in written


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("BASE_URL", ""),
        ("BASE_URL", "http://validation.example"),
        ("BASE_URL", 'https://validation.example"; include /etc/passwd;'),
        ("SUPPORT_EMAIL", "support"),
        ("SUPPORT_EMAIL", 'a@b.example"; }'),
        ("ANONYMOUS_REQUESTS_PER_MINUTE", "60; }"),
    ],
)
def test_proxy_refuses_what_would_change_its_configuration(
    tmp_path: Path, variable: str, value: str
) -> None:
    process = run_proxy(tmp_path, **{variable: value})
    assert process.returncode == 1
    assert variable in process.stderr
    assert not (tmp_path / "written.conf").exists()


def test_proxy_without_a_certificate_says_how_to_get_one(tmp_path: Path) -> None:
    process = run_proxy(tmp_path)
    assert process.returncode == 1
    host = ENVIRONMENT["ALLOWED_HOSTS"]
    command = re.search(r"openssl req .+", process.stderr)
    assert command
    (tmp_path / "tls").mkdir()
    subprocess.run(["sh", "-c", command[0]], cwd=tmp_path, check=True, capture_output=True)
    certificate = tmp_path / "tls" / "fullchain.pem"
    shown = ["openssl", "x509", "-in", str(certificate), "-noout", "-ext", "subjectAltName"]
    assert f"DNS:{host}" in subprocess.run(shown, capture_output=True, text=True, check=True).stdout
