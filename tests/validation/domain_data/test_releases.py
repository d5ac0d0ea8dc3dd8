"""Signed releases of the domain data, which replace the shipped ones while the product runs."""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from pytest_django import Settings

from accounts.engine import get_engine
from accounts.models import Account
from engine import DOMAIN_DATA, NO_STAFF_DOMAINS, DataRelease, dump_route
from engine.dns.mail_route import MailHost, MailRoute
from engine.domain_data import DATA_FILES, DATA_FOLDER
from engine.suggestions.bare_names import suggest_for_bare_name
from engine.verdicts.decision import describe_domain
from lists.models import ListDomain
from lists.processing.domain_lookups import load_facts
from tests.lists.results_factory import make_ready_list
from tests.servers.dns import FakeDns
from tests.servers.scripted_upstream import scripted_upstream
from tools.domain_data import release as release_tool
from validation.domain_data.releases import DomainDataLoader, download_release
from validation.models import StoredDataRelease

pytestmark = pytest.mark.django_db

KEY = Ed25519PrivateKey.generate()
NEW_BURNER = "burner-of-tomorrow.com"


@pytest.fixture(autouse=True)
def _key(settings: Settings) -> Iterator[None]:
    settings.DOMAIN_DATA_KEY = b64encode(KEY.public_key().public_bytes_raw()).decode()
    yield
    DOMAIN_DATA.replace({})


def read(name: str) -> str:
    return (DATA_FOLDER / f"{name}.txt").read_text()


def make_release(
    folder: Path,
    changed: Mapping[str, str] = MappingProxyType({}),
    *,
    days: int = 1,
    key: Ed25519PrivateKey = KEY,
) -> Path:
    """Write a release with one more disposable domain, or with other changes."""
    files = {name: read(name) for name in DATA_FILES}
    created_at = datetime.now(UTC) + timedelta(days=days)
    old = f"# date: {DOMAIN_DATA.read('disposable').date}"
    files["disposable"] = files["disposable"].replace(old, f"# date: {created_at:%Y-%m-%d}")
    files["disposable"] += f"{NEW_BURNER}\n"
    path = folder / "domain-data"
    path.write_bytes(DataRelease(created_at, {**files, **changed}).seal(key))
    return path


def update(path: Path | str) -> None:
    call_command("update_domain_data", f"--from={path}")


def test_running_process_uses_a_stored_release(fake_dns: FakeDns, tmp_path: Path) -> None:
    fake_dns.add_mail_domain(NEW_BURNER)
    loader = DomainDataLoader()
    loader.load_if_newer()
    email = f"jane@{NEW_BURNER}"
    assert not get_engine().check(email).checks["disposable"]
    update(make_release(tmp_path))
    loader.load_if_newer()
    finding = get_engine().check(email)
    assert finding.dns_cached
    assert finding.checks["disposable"]
    assert finding.lists["disposable"] == f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}"
    # It is loaded once.
    loaded = DOMAIN_DATA.disposable
    loader.load_if_newer()
    assert DOMAIN_DATA.disposable is loaded


def test_release_is_loaded_later_if_the_database_was_unavailable(tmp_path: Path) -> None:
    update(make_release(tmp_path))
    loader = DomainDataLoader()

    def fail(execute: Any, sql: str, *rest: Any) -> Any:
        if '"archive"' in sql:
            raise OperationalError
        return execute(sql, *rest)

    with connection.execute_wrapper(fail), pytest.raises(OperationalError):
        loader.load_if_newer()
    loader.load_if_newer()
    assert DOMAIN_DATA.is_disposable(NEW_BURNER)


def test_results_of_lists_follow_data_of_the_same_date(account: Account) -> None:
    address_list = make_ready_list(account)
    route = dump_route(MailRoute(domain_exists=True, accepts_mail=True))
    ListDomain.objects.create(list=address_list, domain=NEW_BURNER, block=0, route=route)
    assert load_facts(address_list, [NEW_BURNER])[NEW_BURNER].disposable_by is None
    DOMAIN_DATA.replace({"disposable": f"{read('disposable')}{NEW_BURNER}\n"})
    assert load_facts(address_list, [NEW_BURNER])[NEW_BURNER].disposable_by == "domain"


def test_suggestions_of_bare_names_follow_the_data() -> None:
    assert suggest_for_bare_name("zebrapostcom", DOMAIN_DATA) is None
    DOMAIN_DATA.replace({"free_providers": f"{read('free_providers')}zebrapost.com\n"})
    assert suggest_for_bare_name("zebrapostcom", DOMAIN_DATA) == "zebrapost.com"


def test_facts_found_while_data_are_replaced_are_not_current() -> None:
    class Hosts(tuple[MailHost, ...]):
        def __iter__(self) -> Iterator[MailHost]:
            DOMAIN_DATA.replace({})
            return super().__iter__()

    route = MailRoute(domain_exists=True, accepts_mail=True, hosts=Hosts())
    info = describe_domain(DOMAIN_DATA, NEW_BURNER, route, NO_STAFF_DOMAINS)
    assert info.versions is not DOMAIN_DATA.versions


@pytest.mark.anywhere
class TestRefusals:
    def test_older_release_is_refused(self, tmp_path: Path) -> None:
        update(make_release(tmp_path, days=3))
        with pytest.raises(CommandError, match="isn't newer than the stored data"):
            update(make_release(tmp_path, days=2))
        assert StoredDataRelease.objects.get().created_at > datetime.now(UTC) + timedelta(days=2)

    def test_release_older_than_the_product_is_refused_and_ignored(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="is older than the product's data"):
            update(make_release(tmp_path, days=-1000))
        archive = make_release(tmp_path, days=-1000).read_bytes()
        created_at = datetime.now(UTC) - timedelta(days=1000)
        StoredDataRelease.objects.create(created_at=created_at, archive=archive)
        DomainDataLoader().load_if_newer()
        assert not DOMAIN_DATA.is_disposable(NEW_BURNER)

    def test_new_release_of_old_data_is_refused(self, tmp_path: Path) -> None:
        old = {
            name: re.sub(r"# date: .*", "# date: 2020-01-01", read(name))
            for name in ("disposable", "disposable_voted")
        }
        with pytest.raises(CommandError, match="Its data of 2020-01-01 are older"):
            update(make_release(tmp_path, old))

    def test_release_of_the_future_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(CommandError, match="would keep later ones out"):
            update(make_release(tmp_path, days=30))

    def test_release_of_a_stranger_is_refused(self, tmp_path: Path, settings: Settings) -> None:
        path = make_release(tmp_path, key=Ed25519PrivateKey.generate())
        with pytest.raises(CommandError, match="isn't signed with the key"):
            update(path)
        path = make_release(tmp_path)
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(CommandError, match="isn't signed with the key"):
            update(path)
        settings.DOMAIN_DATA_KEY = ""
        with pytest.raises(CommandError, match="Set DOMAIN_DATA_KEY"):
            update(make_release(tmp_path))

    @pytest.mark.parametrize(
        ("name", "entries", "error"),
        [
            ("disposable", "", "has 0 entries"),
            ("disposable_voted", "gmail.com", "It lists gmail.com as disposable"),
            ("disposable_voted", "activist.com", "It lists activist.com as disposable"),
            ("known_typos", "one-word", "Its data can't be read: ValueError"),
            ("disposable_patterns", "(", "Its data can't be read: error"),
            ("surprise", "x.com", "for another version of the product: surprise"),
        ],
    )
    def test_implausible_release_is_refused(
        self, tmp_path: Path, name: str, entries: str, error: str
    ) -> None:
        text = "# source: x\n# version: 1\n# date: 2026-12-01\n# license: MIT\n"
        if name in DATA_FILES and entries:
            text = read(name)
        with pytest.raises(CommandError, match=error):
            update(make_release(tmp_path, {name: f"{text}{entries}\n"}))
        assert not StoredDataRelease.objects.exists()


def test_daily_job_downloads_a_release(tmp_path: Path, settings: Settings) -> None:
    download_release()
    assert not StoredDataRelease.objects.exists()
    settings.DOMAIN_DATA_URL = make_release(tmp_path).as_uri()
    download_release()
    # An unchanged release is no failure.
    download_release()
    assert StoredDataRelease.objects.count() == 1


def test_failed_download_is_no_failed_job(settings: Settings) -> None:
    with scripted_upstream() as publisher:
        settings.DOMAIN_DATA_URL = f"http://127.0.0.1:{publisher.port}/domain-data"
        for response in (
            b"HTTP/1.1 500 Down\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ncut",
        ):
            publisher.response = response
            download_release()
    download_release()
    assert not StoredDataRelease.objects.exists()


def test_tool_signs_the_data_of_a_checkout(
    tmp_path: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    key, out = tmp_path / "key", tmp_path / "release"
    release_tool.main(key, out)
    first = capsys.readouterr().out
    release_tool.main(key, out)
    assert capsys.readouterr().out == first
    assert key.stat().st_mode & 0o077 == 0
    settings.DOMAIN_DATA_KEY = first.removeprefix("Public key: ").strip()
    update(out)
    DomainDataLoader().load_if_newer()
    assert StoredDataRelease.objects.count() == 1
