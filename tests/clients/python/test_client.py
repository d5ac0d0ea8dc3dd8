"""The Python client against a running product."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from emailvalidation import (
    BillingError,
    Client,
    ConfigurationError,
    ConflictError,
    ConnectionFailed,
    DeadlineExceeded,
    EmailValidationError,
    ListFailed,
    RateLimitError,
    ServerError,
)
from emailvalidation.aio import AsyncClient

from apikeys.errors import REFUSALS
from engine import VERDICT_BY_REASON
from tests.servers.books import fetch_number
from tests.servers.fault_proxy import FaultProxy, fault_proxy
from tests.servers.keys import make_key
from tests.servers.product import Product

pytestmark = pytest.mark.process

KEY_PATTERN = re.compile("svc_live_[0-9A-Za-z]{38}")
FILE = "Name,E-Mail\nJane,deliverable@sandbox.test\nJoe,undeliverable@sandbox.test\n"


@pytest.fixture(scope="module")
def key(site: Product) -> str:
    return make_key(site, "python@clients.example", 5_000)


@pytest.fixture
def client(site: Product, key: str) -> Iterator[Client]:
    with Client(key, site.url) as client:
        yield client


@pytest.fixture
def failing(site: Product) -> Iterator[FaultProxy]:
    with fault_proxy(site.url, rate=0, seed=1) as proxy:
        yield proxy


def test_every_verdict_and_reason_of_the_sandbox_is_read(client: Client) -> None:
    for word, verdict in VERDICT_BY_REASON.items():
        result = client.validate(f"{word}@sandbox.test")
        assert (result.reason, result.verdict) == (word, verdict)
        assert result.raw["checks"]["disposable"] is result.checks.disposable


@pytest.mark.parametrize("code", REFUSALS)
def test_every_error_of_the_sandbox_is_an_exception_of_its_type(client: Client, code: str) -> None:
    with pytest.raises(EmailValidationError) as caught:
        # Not retried: a longer wait than the deadline, or the second error of its kind.
        client.validate(f"{code}@sandbox.test", timeout=4)
    error = caught.value
    assert (error.code, error.status) == (code, REFUSALS[code].status)
    assert type(error).__name__.lower().startswith(error.type.partition("_")[0][:6]) or (
        isinstance(error, ServerError)
    )
    assert error.doc_url.endswith(f"#{code}")
    assert error.request_id
    assert not KEY_PATTERN.search(f"{error!r} {error}")


def test_client_never_shows_its_key(client: Client, key: str) -> None:
    assert key not in f"{client!r} {vars(client)}"


@pytest.mark.parametrize(
    ("api_key", "base_url"),
    [
        ("", "https://api.example.com"),
        ("svc_live_short", "https://api.example.com"),
        ("svc_live_" + "a" * 38, ""),
        ("svc_live_" + "a" * 38, "api.example.com"),
        ("svc_live_" + "a" * 38, "http://api.example.com"),
    ],
)
def test_what_cannot_work_is_refused_before_any_request(api_key: str, base_url: str) -> None:
    with pytest.raises(ConfigurationError):
        Client(api_key, base_url)


def test_sign_up_check_decides_like_the_api_and_suggests(client: Client) -> None:
    typo = client.sign_up_check("possible_typo@sandbox.test")
    assert (typo.accept, typo.suggestion) == (True, "possible_typo@mailbox.test")
    assert typo.message == "Did you mean possible_typo@mailbox.test?"
    refused = client.sign_up_check("disposable@sandbox.test")
    assert (refused.accept, refused.failure) == (False, None)
    assert client.sign_up_check("no address").message
    assert not client.sign_up_check("").accept


def test_sign_up_check_never_says_whether_a_mailbox_exists(client: Client) -> None:
    existing, missing = (
        client.sign_up_check(f"{word}@sandbox.test")
        for word in ("mailbox_accepted", "mailbox_not_found")
    )
    assert existing == missing


@pytest.mark.parametrize(
    "code", ["insufficient_credits", "rate_limit_exceeded", "internal_error", "invalid_api_key"]
)
def test_sign_up_check_accepts_what_it_cannot_check(client: Client, code: str) -> None:
    failures: list[EmailValidationError] = []
    check = client.sign_up_check(f"{code}@sandbox.test", timeout=10, on_failure=failures.append)
    assert check.accept
    assert [failure.code for failure in failures] == [code]


def test_sign_up_check_accepts_within_its_time_when_nothing_responds(
    failing: FaultProxy, key: str
) -> None:
    failing.rate, failing.kinds = 1, ("stuck",)
    start = time.monotonic()
    check = Client(key, failing.url).sign_up_check("a@sandbox.test", timeout=0.5)
    assert check.accept
    assert isinstance(check.failure, DeadlineExceeded)
    assert time.monotonic() - start < 3


def test_many_addresses_are_validated_in_order_and_one_batch_at_a_time(client: Client) -> None:
    taken = []

    def read() -> Iterator[str]:
        for number in range(250):
            taken.append(number)
            yield f"deliverable+{number}@sandbox.test"

    results = client.validate_many(read())
    assert next(results).email == "deliverable+0@sandbox.test"
    assert len(taken) == 100
    assert [result.email for result in results][-1] == "deliverable+249@sandbox.test"


def test_batches_are_smaller_than_a_low_rate_limit(site: Product) -> None:
    client = Client(make_key(site, "slow@clients.example", 70), site.url)
    emails = [f"deliverable+{number}@sandbox.test" for number in range(60)]
    assert [result.email for result in client.validate_many(emails)] == emails


def test_list_is_uploaded_by_the_name_of_its_column_and_downloaded(
    client: Client, tmp_path: Path
) -> None:
    source, target = tmp_path / "customers.csv", tmp_path / "clean.csv"
    source.write_text(FILE)
    steps: list[tuple[int, int]] = []
    created = client.lists.create(
        source, column="e-mail", on_progress=lambda *step: steps.append(step)
    )
    checked = client.lists.wait(created, until="results", timeout=60)
    assert steps == [(len(FILE), len(FILE))]
    assert (checked.verdicts.deliverable, checked.verdicts.undeliverable) == (1, 1)
    assert client.lists.download(checked, target, filter="deliverable") == target
    header, *rows = target.read_text("utf-8-sig").splitlines()
    assert header.startswith("Name,E-Mail,ev_verdict")
    assert len(rows) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"customers.csv", "clean.csv"}
    assert checked.id in [one.id for one in client.lists.all()]
    with pytest.raises(ConflictError):
        client.lists.pause(checked)
    client.lists.delete(checked)


def test_unknown_column_names_those_of_the_file(client: Client, tmp_path: Path) -> None:
    (tmp_path / "customers.csv").write_text(FILE)
    with pytest.raises(ValueError, match="Name, E-Mail"):
        client.lists.create(tmp_path / "customers.csv", column="address")


def test_upload_continues_with_the_parts_that_are_missing(
    failing: FaultProxy, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("emailvalidation.lists.PART_BYTES", 50)
    source = tmp_path / "customers.csv"
    source.write_text(FILE * 3)
    client = Client(key, failing.url)
    created = client.request("POST", "/v1/lists", json={"parts": True, "name": "a.csv"}).data

    def stop(done: int, _: int) -> None:
        if done == 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        client.lists.upload(created["id"], source, on_progress=stop)
    failing.paths.clear()
    client.lists.upload(created["id"], source)
    sent = [path.rpartition("/")[2] for method, path in failing.paths if method == "PUT"]
    assert sent == ["3", "4", "5"]
    assert client.lists.wait(created["id"], until="ready").counts.rows == 8  # type: ignore[union-attr]


def test_failed_list_says_why(client: Client, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("\n")
    created = client.lists.create(tmp_path / "empty.csv")
    with pytest.raises(ListFailed) as caught:
        client.lists.wait(created, timeout=60)
    assert caught.value.code
    assert caught.value.list.id == created.id


def test_interrupted_download_leaves_no_file(
    client: Client, failing: FaultProxy, key: str, tmp_path: Path
) -> None:
    created = client.lists.create([f"deliverable+{n}@sandbox.test" for n in range(50)])
    client.lists.wait(created, timeout=60)
    failing.rate, failing.kinds = 1, ("half",)
    with pytest.raises((ConnectionFailed, DeadlineExceeded)):
        Client(key, failing.url).lists.download(created, tmp_path / "clean.csv", timeout=0.5)
    assert not list(tmp_path.iterdir())


def test_own_domains_are_added_to_those_that_are_there(client: Client) -> None:
    client.domains.replace(allowed=["partner.example"], denied=[])
    stored = client.domains.deny("spam.example", "junk.example")
    assert stored.allowed == ["partner.example"]
    assert set(stored.denied) == {"spam.example", "junk.example"}


def test_wait_that_is_longer_than_the_deadline_is_not_started(
    failing: FaultProxy, key: str
) -> None:
    failing.rate, failing.kinds = 1, ("storm",)
    with pytest.raises(RateLimitError) as caught:
        Client(key, failing.url).validate("a@sandbox.test", timeout=0.9)
    assert caught.value.retry_after == 1
    assert len(failing.paths) == 1


@pytest.mark.parametrize("method", ["POST", "post"])
def test_request_that_could_work_twice_is_not_sent_again(
    failing: FaultProxy, key: str, method: str
) -> None:
    failing.rate, failing.kinds = 1, ("lost",)
    with pytest.raises(ConnectionFailed):
        Client(key, failing.url).request(method, "/v1/webhooks/whk_missing/test")
    assert failing.paths == [("POST", "/v1/webhooks/whk_missing/test")]


def test_page_of_a_proxy_is_no_answer(failing: FaultProxy, key: str) -> None:
    failing.rate, failing.kinds = 1, ("page",)
    client = Client(key, failing.url)
    with pytest.raises(EmailValidationError, match="wasn't from the API"):
        client.validate("a@sandbox.test")
    assert client.sign_up_check("a@sandbox.test").accept


def test_lost_response_is_asked_for_again_and_charged_once(
    site: Product, failing: FaultProxy
) -> None:
    key = make_key(site, "once@clients.example", credits=10)
    statement = "SELECT COUNT(*) FROM validation_logentry WHERE cost = 1"
    before = fetch_number(site, statement)
    failing.rate, failing.kinds, failing.most = 1, ("lost",), 2
    assert Client(key, failing.url).validate("no address").verdict == "undeliverable"
    assert len(failing.paths) == 3
    assert fetch_number(site, statement) == before + 1


def test_asynchronous_client_has_the_same_results(site: Product, key: str) -> None:
    async def run() -> None:
        async with AsyncClient(key, site.url) as client:
            result = await client.validate("possible_typo@sandbox.test")
            assert result.did_you_mean == "possible_typo@mailbox.test"
            away = "service_unavailable@sandbox.test"
            assert (await client.sign_up_check(away, timeout=1)).accept
            with pytest.raises(BillingError):
                await client.validate("insufficient_credits@sandbox.test")
            many = [one.email async for one in client.validate_many(read())]
            assert many == [f"deliverable+{n}@sandbox.test" for n in range(150)]
            assert (await client.credits()).plan == "free"
            assert len((await client.usage(source="api")).days) == 30
            assert [event async for event in client.events(type="webhook.test")] == []

    async def read() -> AsyncIterator[str]:
        for number in range(150):
            yield f"deliverable+{number}@sandbox.test"

    asyncio.run(run())


def test_asynchronous_client_keeps_its_deadline(failing: FaultProxy, key: str) -> None:
    failing.rate, failing.kinds = 1, ("stuck",)

    async def run() -> None:
        async with AsyncClient(key, failing.url, timeout=0.5) as client:
            with pytest.raises(DeadlineExceeded):
                await client.validate("a@sandbox.test")

    asyncio.run(run())
