"""Fixtures and helpers that all tests share: users, accounts, keys and clients."""

import gc
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from django.test.utils import teardown_databases
from django.utils import timezone
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django import DjangoDbBlocker
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from accounts.models import Account, Membership, User
from accounts.roles import Role
from accounts.services import open_account, run_email_confirmed_hooks
from apikeys.crypto import digest
from apikeys.models import ApiKey
from apikeys.models.refusals import refusals
from apikeys.services import create_key
from apikeys.throttling import limits
from runtime.logging.handler import stderr_writer
from tests.support.api_client import ApiClient
from tests.support.copied_rows import CopiedRows
from tests.support.database_template import create_test_database
from tests.support.fresh_database import fresh_database
from tests.support.log_records import LogCapture, capture_logs
from tests.support.page_context import record_page_contexts
from tests.support.pages import browser_for
from validation.lookup_limits import forget_counts

__all__ = ["fresh_database"]

PASSWORD = "correct horse battery"
# Drawing examples is slow on a busy machine, which says nothing about a test.
hypothesis_settings.register_profile("busy", suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("busy")
FIREFOX = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0"}
# The tests of each folder share a product, whose processes take seconds of CPU to start.
SHARING = ("tests/journeys/", "tests/clients/")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Mark tests without a database as `anywhere`, before `-m` selects; put slow ones first."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        uses_database = fixtures & {"db", "fresh_database"} or item.get_closest_marker("django_db")
        if not uses_database:
            item.add_marker(pytest.mark.anywhere)
    yield
    # Sorting is stable: tests stay shuffled.
    items.sort(key=start_order)


def start_order(item: pytest.Item) -> int:
    """Start slow tests early: at the end, the other xdist workers would wait for them."""
    if folder := sharing_folder(item.nodeid):
        return SHARING.index(folder)
    is_slow = item.get_closest_marker("process") or item.path.parent.name in ("site", "fuzz")
    return len(SHARING) + (0 if is_slow else 1)


def sharing_folder(nodeid: str) -> str:
    return next(filter(nodeid.startswith, SHARING), "")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Let one worker run all quick tests that share a product. All workers share the slow ones."""
    if config.option.dist != "loadfile" or "not proof" not in config.option.markexpr:
        return None
    scheduling = LoadFileScheduling(config, log)
    by_file = scheduling._split_scope
    scheduling._split_scope = lambda nodeid: sharing_folder(nodeid) or by_file(nodeid)
    return scheduling


@pytest.hookimpl(tryfirst=True)
def pytest_collection() -> None:
    """Keep the garbage collector from traversing modules and tests while they are loaded."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Let the garbage collector traverse only what tests create, as rarely as in a web worker."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 10, 10)
    gc.enable()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call() -> Iterator[None]:
    """Write queued log lines while pytest still captures the test's standard error."""
    try:
        yield
    finally:
        stderr_writer.flush()


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None,
    django_db_modify_db_settings: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[None]:
    """Create the test database even when tests only use `fresh_database`.

    pytest-django's fixture skips it unless a test uses the `db` fixture or the `django_db` mark.
    """
    with django_db_blocker.unblock():
        created = create_test_database()
    yield
    with django_db_blocker.unblock():
        teardown_databases(created, verbosity=0)


def make_user(email: str, **fields: Any) -> User:
    user = User.objects.create_user(email, PASSWORD, **fields)
    EmailAddress.objects.create(user=user, email=email, primary=True, verified=True)
    return user


def make_member(account: Account, role: Role, email: str = "") -> User:
    user = make_user(email or f"{role.value}@team.example")
    Membership.objects.create(account=account, user=user, role=role)
    return user


def signed_in(user: User) -> Client:
    """Return a browser in which the user has just signed in, without opening the sign-in page."""
    return browser_for(user, headers=FIREFOX)


def signed_in_by_form(user: User) -> Client:
    """Return a browser in which the user signed in on the sign-in page, which is slow."""
    client = Client(headers=FIREFOX)
    response = client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    assert response.status_code == 302, response.content
    return client


@pytest.fixture(scope="session", autouse=True)
def _page_contexts(django_test_environment: None) -> None:
    record_page_contexts()


@pytest.fixture(autouse=True)
def _reset_counters() -> Iterator[None]:
    """Reset rate limits and counters before each test."""
    cache.clear()
    limits.exhausted_buckets.clear()
    refusals.discard()
    forget_counts()
    yield


@pytest.fixture
def records() -> Iterator[LogCapture]:
    """Capture everything that is logged."""
    with capture_logs() as capture:
        yield capture


@pytest.fixture(scope="session")
def owner_rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> CopiedRows:
    with django_db_blocker.unblock():
        return CopiedRows(sign_up_owner)


@pytest.fixture(scope="session")
def owner_and_key_rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> CopiedRows:
    with django_db_blocker.unblock():
        return CopiedRows(lambda: create_owners_key(sign_up_owner()))


def sign_up_owner() -> User:
    user = make_user("owner@shop.example", name="Olive Owner")
    open_account(user=user, name="The Shop")
    run_email_confirmed_hooks(user=user)
    return user


def create_owners_key(owner: User) -> str:
    """Create a key, and return its secret."""
    account = Account.objects.get(memberships__user=owner)
    return create_key(account=account, name="The Shop's server", actor=owner)[1]


@pytest.fixture
def owner(
    request: pytest.FixtureRequest,
    db: None,
    owner_rows: CopiedRows,
    owner_and_key_rows: CopiedRows,
) -> User:
    rows = owner_and_key_rows if "secret" in request.fixturenames else owner_rows
    if timezone.now().date() != rows.day or User.objects.exists():
        return sign_up_owner()
    rows.insert()
    return User.objects.get()


@pytest.fixture
def account(owner: User) -> Account:
    return Account.objects.get(memberships__user=owner)


@pytest.fixture
def browser(owner: User) -> Client:
    """A browser in which the owner has signed in."""
    return signed_in(owner)


@pytest.fixture
def secret(account: Account, owner: User, owner_and_key_rows: CopiedRows) -> str:
    """The secret of the owner's only API key."""
    copied: str = owner_and_key_rows.created
    if account.api_keys.filter(digest=digest(copied, settings.API_KEY_PEPPER)).exists():
        return copied
    return create_owners_key(owner)


@pytest.fixture
def key(account: Account, secret: str) -> ApiKey:
    return account.api_keys.get()


@pytest.fixture
def caller(secret: str) -> ApiClient:
    return ApiClient(secret)


@pytest.fixture
def stranger(db: None) -> User:
    """Another customer, who must not see any of the owner's data."""
    user = make_user("stranger@elsewhere.example")
    open_account(user=user, name="Elsewhere")
    run_email_confirmed_hooks(user=user)
    return user


@pytest.fixture
def other_caller(stranger: User) -> ApiClient:
    """A client with a key of another customer."""
    return ApiClient(create_owners_key(stranger))


@pytest.fixture
def staff(db: None) -> User:
    return make_user("staff@service.example", is_staff=True, is_superuser=True)


@pytest.fixture
def staff_client(staff: User) -> Client:
    """A browser in which a superuser has signed in."""
    return signed_in(staff)
