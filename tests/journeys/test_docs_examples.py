"""All examples of the docs run verbatim, with the key in the documented variable."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from reference.docs.examples import LANGUAGES
from reference.docs.pages import PAGES, DocsPage
from tests.journeys.docs_examples import RUNNERS, Example, find_differences, load_examples
from tests.servers.client import HttpCaller
from tests.servers.keys import make_key, make_window_end_in, manage
from tests.servers.product import Product, product

SIGN_UPS = {
    "deliverable@sandbox.test": [True, None],
    "possible_typo@sandbox.test": [True, "possible_typo@mailbox.test"],
    "disposable@sandbox.test": [False, None],
    "unknown@sandbox.test": [True, None],
    # When the API refuses or is unavailable, the sign-up is allowed.
    "rate_limit_exceeded@sandbox.test": [True, None],
    "service_unavailable@sandbox.test": [True, None],
}
CALLS = {
    "python": "\nimport json\nchecks = map(client.sign_up_check, {emails})"
    "\nprint(json.dumps([[one.accept, one.suggestion] for one in checks]))",
    "typescript": "\nconst ask = (email) => client.signUpCheck(email);"
    "\nconst checks = await Promise.all({emails}.map(ask));"
    "\nconsole.log(JSON.stringify(checks.map((one) => [one.accept, one.suggestion])));",
    "http-python": "\nprint(json.dumps([check_sign_up(email) for email in {emails}]))",
    "http-javascript": "\nconst checks = await Promise.all({emails}.map(checkSignUp));"
    "\nconsole.log(JSON.stringify(checks));",
}
RECORD_EVENTS = """
from accounts.events import EventType, record_event
from accounts.models import Account
from accounts.webhooks.fan_out import number_events
account = Account.objects.first_owned_by("events@docs.example")
record_event(account, EventType("credits.low", "", "", {}), {"balance": 498, "threshold": 500})
record_event(account, EventType("list.completed", "", "", {}), {"id": "lst_4Fq8ZnWcR2tKvYx6BdJm"})
while number_events():
    pass
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product with a process for lists, which other journeys don't need."""
    folder = tmp_path_factory.mktemp("product")
    with product(folder, WEB_WORKERS="1", LIST_PROCESSES="1") as running:
        yield running


@pytest.fixture(scope="module")
def examples(site: Product) -> list[Example]:
    return load_examples(site)


@pytest.fixture(scope="module")
def printed(site: Product, examples: list[Example]) -> dict[str, str]:
    """The output of every example, run in parallel because startup takes most of the time."""
    secret = make_key(site, "reader@docs.example", 1_000)
    # Other examples cause events, too.
    secret_with_events = make_key(site, "events@docs.example", 1_000)
    manage(site, "shell", "--no-imports", "-c", RECORD_EVENTS)
    # The reference repeats samples of other pages.
    # tests/accounts/webhooks/test_docs.py runs the programs that wait for requests.
    ready = {
        example.name: example
        for example in examples
        if example.can_run and not example.printed.startswith("Listening")
    }
    with ThreadPoolExecutor(4) as readers:
        texts = readers.map(
            lambda example: example.run(
                secret_with_events if example.name.startswith("events") else secret
            ),
            ready.values(),
        )
        return dict(zip(ready, texts, strict=True))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_prints_the_documented_output(
    page: DocsPage, examples: list[Example], printed: dict[str, str]
) -> None:
    differences = {
        example.name: find_differences(example, printed[example.name])
        for example in examples
        if example.page == page.path and example.name in printed
    }
    assert not {name: lines for name, lines in differences.items() if lines}


def test_every_shown_language_is_run(examples: list[Example]) -> None:
    assert {language.name for language in LANGUAGES} == RUNNERS.keys()
    assert {example.language for example in examples} == RUNNERS.keys()


@pytest.mark.parametrize("language", CALLS)
def test_sign_up_example_decides_as_documented(
    site: Product, examples: list[Example], language: str
) -> None:
    """The example is run with an extra line that calls it for each address."""
    example = find_example(examples, f"sign-up-{language}")
    secret = make_key(site, f"{language}@sign-up.example", 1_000)
    output = example.run(secret, CALLS[language].format(emails=json.dumps([*SIGN_UPS])))
    assert json.loads(output.splitlines()[-1]) == [*SIGN_UPS.values()]


@pytest.mark.parametrize("language", CALLS)
def test_retry_example_waits_out_a_real_429(
    site: Product, examples: list[Example], language: str
) -> None:
    email = f"{language}@retry.example"
    secret = make_key(site, email, 2)
    make_window_end_in(6, site, email)
    caller = HttpCaller(site, secret)
    assert [caller.get().status for _ in range(3)][-1] == 429
    assert find_example(examples, f"retry-{language}").run(secret) == "risky\n"


def find_example(examples: list[Example], name: str) -> Example:
    example = next(example for example in examples if example.name == name)
    if not example.can_run:
        pytest.skip(f"No program to run {example.language} is installed.")
    return example
