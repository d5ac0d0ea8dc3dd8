"""Whatever the docs show to run is run: as it stands, with the key where they say it is."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.journeys.docs_examples import RUNNERS, Example, differences, examples_of
from tests.servers.client import HttpCaller
from tests.servers.keys import end_window_in, make_key
from tests.servers.product import Product
from validation.docs.examples import LANGUAGES
from validation.docs.pages import PAGES, Page

SIGN_UPS = {
    "deliverable@sandbox.test": [True, None],
    "possible_typo@sandbox.test": [True, "possible_typo@mailbox.test"],
    "disposable@sandbox.test": [False, None],
    "unknown@sandbox.test": [True, None],
    # The service refuses, or is away for a while: nobody is kept out.
    "rate_limit_exceeded@sandbox.test": [True, None],
    "service_unavailable@sandbox.test": [True, None],
}
CALLS = {
    "python": "\nprint(json.dumps([check_sign_up(email) for email in {emails}]))",
    "javascript": "\nconsole.log(JSON.stringify(await Promise.all({emails}.map(checkSignUp))));",
}


@pytest.fixture(scope="module")
def examples(site: Product) -> list[Example]:
    return examples_of(site)


@pytest.fixture(scope="module")
def printed(site: Product, examples: list[Example]) -> dict[str, str]:
    """All at once: most of the time they wait for each other's start."""
    secret = make_key(site, "reader@docs.example", 1_000)
    ready = [example for example in examples if example.can_run]
    with ThreadPoolExecutor(4) as readers:
        texts = readers.map(lambda example: example.run(secret), ready)
        return {example.name: text for example, text in zip(ready, texts, strict=True)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_of_a_page_prints_what_the_page_says(
    page: Page, examples: list[Example], printed: dict[str, str]
) -> None:
    found = {
        example.name: differences(example, printed[example.name])
        for example in examples
        if example.page == page.path and example.name in printed
    }
    assert not {name: lines for name, lines in found.items() if lines}


def test_no_language_is_shown_that_is_not_run(examples: list[Example]) -> None:
    assert {language.name for language in LANGUAGES} == RUNNERS.keys()
    assert {example.language for example in examples} == RUNNERS.keys()


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_the_documented_sign_up_check_decides_as_documented(
    site: Product, examples: list[Example], language: str
) -> None:
    """With a line that calls it for each of these."""
    example = one_of(examples, f"sign-up-{language}")
    secret = make_key(site, f"{language}@sign-up.example", 1_000)
    said = example.run(secret, CALLS[language].format(emails=json.dumps([*SIGN_UPS])))
    assert json.loads(said.splitlines()[-1]) == [*SIGN_UPS.values()]


@pytest.mark.proof
@pytest.mark.parametrize("language", ["python", "javascript"])
def test_the_documented_retry_loop_waits_out_a_real_429(
    site: Product, examples: list[Example], language: str
) -> None:
    email = f"{language}@retry.example"
    secret = make_key(site, email, 2)
    end_window_in(6, site, email)
    caller = HttpCaller(site, secret)
    assert [caller.get().status for _ in range(3)][-1] == 429
    assert one_of(examples, f"retry-{language}").run(secret) == "risky\n"


def one_of(examples: list[Example], name: str) -> Example:
    example = next(example for example in examples if example.name == name)
    if not example.can_run:
        pytest.skip(f"This machine has nothing that runs {example.language}.")
    return example
