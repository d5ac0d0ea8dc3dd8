"""The command line, as a user runs it."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from emailvalidation import webhooks

from tests.servers.fault_proxy import fault_proxy
from tests.servers.keys import make_key, manage
from tests.servers.product import ROOT, Product
from tests.servers.receiver import receiver
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

FILE = "Name,E-Mail\nJane,deliverable@sandbox.test\nJoe,undeliverable@sandbox.test\n"
RECORD_EVENT = """
from accounts.events import EventType, record_event
from accounts.models import Account
from accounts.webhooks.fan_out import number_events
account = Account.objects.first_owned_by("line@clients.example")
record_event(account, EventType("credits.low", "", "", {}), {"balance": 9, "threshold": 10})
while number_events():
    pass
"""


@pytest.fixture(scope="module")
def key(site: Product) -> str:
    return make_key(site, "line@clients.example", 5_000)


class CommandLine:
    def __init__(self, url: str, key: str, state: Path) -> None:
        self.command = [sys.executable, "-m", "emailvalidation.cli"]
        self.env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT / "clients" / "python" / "src"),
            "PYTHONIOENCODING": "utf-8",
            "SVC_API_KEY": key,
            "SVC_BASE_URL": url,
            "XDG_STATE_HOME": str(state),
        }

    def run(
        self, *arguments: str, text: str = "", **env: str
    ) -> "subprocess.CompletedProcess[str]":
        return self.run_within(*self.command, *arguments, text=text, **env)

    def run_within(
        self, *command: str, text: str = "", **env: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            env={**self.env, **env},
            input=text,
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*self.command, *arguments],
            env=self.env,
            # A shell's background jobs ignore it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def line(site: Product, key: str, tmp_path: Path) -> CommandLine:
    return CommandLine(site.url, key, tmp_path / "state")


def test_addresses_are_arguments_or_lines_and_results_come_in_order(line: CommandLine) -> None:
    run = line.run("validate", "possible_typo@sandbox.test")
    assert (run.returncode, run.stderr) == (0, "")
    assert "Did you mean possible_typo@mailbox.test?" in run.stdout
    emails = [f"deliverable+{number}@sandbox.test" for number in range(150)]
    run = line.run("validate", "--json", text="\n".join([*emails, "", " unknown@sandbox.test "]))
    results = [json.loads(one) for one in run.stdout.splitlines()]
    assert [one["email"] for one in results] == [*emails, "unknown@sandbox.test"]


def test_reader_that_has_enough_ends_the_command_quietly(line: CommandLine) -> None:
    script = f"{sys.executable} -m emailvalidation.cli validate | head -1"
    run = line.run_within("bash", "-c", script, text="deliverable@sandbox.test\n" * 2_000)
    assert (len(run.stdout.splitlines()), run.stderr) == (1, "")


@pytest.mark.parametrize(
    ("arguments", "env", "code"),
    [
        (["validate", "insufficient_credits@sandbox.test"], {}, 4),
        (["validate", "a@sandbox.test"], {"SVC_API_KEY": "svc_live_" + "a" * 38}, 3),
        (["validate", "a@sandbox.test"], {"SVC_API_KEY": "wrong"}, 3),
        (["validate", "a@sandbox.test"], {"SVC_BASE_URL": "http://api.example.com"}, 3),
        (["validate", "internal_error@sandbox.test"], {}, 5),
        (["lists", "show", "lst_missing"], {}, 1),
        (["clean", "missing.csv", "-o", "out.csv"], {}, 1),
        (["nonsense"], {}, 2),
    ],
)
def test_exit_code_says_what_kind_of_failure_it_was(
    line: CommandLine, key: str, arguments: list[str], env: dict[str, str], code: int
) -> None:
    run = line.run(*arguments, **env)
    assert (run.returncode, run.stdout) == (code, "")
    assert run.stderr
    assert key not in run.stderr
    assert "Traceback" not in run.stderr


def test_account_commands_print_facts_or_json(line: CommandLine) -> None:
    assert re.search(r"Balance +100\n", line.run("credits").stdout)
    assert json.loads(line.run("credits", "--json").stdout)["plan"] == "free"
    assert len(json.loads(line.run("usage", "--json", "--source", "api").stdout)["days"]) == 30
    assert line.run("usage").returncode == 0


def test_file_is_cleaned_and_its_list_can_be_used(line: CommandLine, tmp_path: Path) -> None:
    source, target = tmp_path / "customers.csv", tmp_path / "clean.csv"
    source.write_text(FILE)
    clean = ["clean", str(source), "-o", str(target), "--column", "e-mail"]
    refused = line.run(*clean)
    assert refused.returncode == 1
    assert "2 distinct addresses: at most 0 credits" in refused.stderr
    assert "--yes" in refused.stderr
    # The second run continues with the uploaded list.
    run = line.run(*clean, "--yes", "--filter", "deliverable", "--json")
    assert run.returncode == 0, run.stderr
    checked = json.loads(run.stdout)
    assert checked["verdicts"]["deliverable"] == 1
    assert len(target.read_text().splitlines()) == 2
    listed = json.loads(line.run("lists", "--json").stdout)
    assert [one["id"] for one in listed if one["name"] == "customers.csv"] == [checked["id"]]
    assert checked["id"] in line.run("lists").stdout
    assert "completed" in line.run("lists", "show", checked["id"]).stdout
    again = line.run("lists", "download", checked["id"], "-o", str(tmp_path / "all.jsonl"))
    assert again.returncode == 0
    assert line.run("lists", "delete", checked["id"]).returncode == 0
    assert line.run("lists", "show", checked["id"]).returncode == 1


def test_interrupted_clean_continues_without_a_second_upload(
    site: Product, key: str, tmp_path: Path
) -> None:
    source, target = tmp_path / "crm.csv", tmp_path / "clean.csv"
    rows = (f"Name {number},deliverable+{number}@sandbox.test" for number in range(9_000))
    source.write_text("Name,E-Mail\n" + "\n".join(rows))
    with fault_proxy(site.url, rate=0, seed=1) as proxy:
        line = CommandLine(proxy.url, key, tmp_path / "state")
        process = line.start("clean", str(source), "-o", str(target), "--max-credits", "1")
        wait_until(lambda: any(path.endswith("/start") for _, path in proxy.paths))
        # The command then waits for a response that never comes.
        proxy.rate, proxy.kinds = 1, ("stuck",)
        wait_until(lambda: proxy.faults["stuck"] > 0)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 130, errors
        assert "Run it again for the results." in errors
        proxy.rate = 0
        proxy.paths.clear()
        run = line.run("clean", str(source), "-o", str(target), "--max-credits", "1")
    assert run.returncode == 0, run.stderr
    assert "Continuing with the list" in run.stderr
    assert not [path for method, path in proxy.paths if method == "PUT" or path.endswith("/start")]
    assert len(target.read_text().splitlines()) == 9_001


def test_doctor_names_each_problem_with_its_cure(line: CommandLine) -> None:
    healthy = line.run("doctor", "--json")
    findings = json.loads(healthy.stdout)
    assert healthy.returncode == 0
    assert {one["check"] for one in findings} == {
        *("Key", "Base URL", "Connection", "Clock", "Account", "Scopes", "Rate limit", "Credits")
    }
    wrong = line.run("doctor", SVC_API_KEY="svc_live_" + "a" * 38)
    assert (wrong.returncode, "Create a key" in wrong.stdout) == (1, True)


# It tries again for 10 s.
@pytest.mark.proof
def test_doctor_names_a_service_that_is_away(line: CommandLine) -> None:
    away = line.run("doctor", SVC_BASE_URL="http://127.0.0.1:1")
    assert (away.returncode, "Check SVC_BASE_URL" in away.stdout) == (1, True)


def test_events_are_printed_and_forwarded_with_a_signature(
    site: Product, line: CommandLine
) -> None:
    with receiver() as hook:
        process = line.start("listen", "--forward", hook.url, "--type", "credits.low")
        assert process.stderr
        assert process.stdout
        secret = process.stderr.readline().strip().partition("=")[2]
        process.stderr.readline()
        manage(site, "shell", "--no-imports", "-c", RECORD_EVENT)
        timer = threading.Timer(30, process.kill)
        timer.start()
        printed = process.stdout.readline()
        timer.cancel()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    (received,) = hook.requests
    event = webhooks.verify(received.body, received.headers, secret)
    assert (event.type, event.data["balance"]) == ("credits.low", 9)
    assert "204" in printed
    assert process.returncode == 130
    assert "credits.low" in line.run("events", "tail", "--type", "credits.low").stdout
    tailed = line.run("events", "tail", "-n", "1", "--json").stdout
    assert json.loads(tailed)["id"].startswith("evt_")


def test_colors_are_only_for_terminals(line: CommandLine) -> None:
    script = f"{sys.executable} -m emailvalidation.cli validate deliverable@sandbox.test"
    for env, colored in (({}, True), ({"NO_COLOR": "1"}, False)):
        run = line.run_within("script", "-qec", script, "/dev/null", TERM="xterm", **env)
        assert ("\033[32m" in run.stdout) is colored
    assert "\033" not in line.run("validate", "deliverable@sandbox.test").stdout


def test_bash_completes_commands_and_options(line: CommandLine) -> None:
    script = line.run("completion", "bash").stdout
    ask = """
COMP_WORDS=({words}); COMP_CWORD={place}; _emailvalidation; echo "${{COMPREPLY[*]}}"
"""
    for words, place, offered in (
        ("emailvalidation val", 1, "validate"),
        ("emailvalidation lists can", 2, "cancel"),
        ("emailvalidation clean --max", 2, "--max-credits"),
    ):
        run = subprocess.run(
            ["bash", "-c", script + ask.format(words=words, place=place)],
            check=True,
            capture_output=True,
            text=True,
        )
        assert run.stdout.strip() == offered
    for shell in ("zsh", "fish"):
        assert "emailvalidation" in line.run("completion", shell).stdout


def test_bridge_answers_what_is_no_message_and_passes_on_the_rest(line: CommandLine) -> None:
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "nope"},
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {
                "name": "validate_email",
                "arguments": {"email": "insufficient_scope@sandbox.test"},
            },
        },
    ]
    run = line.run("mcp", text="\n".join([*map(json.dumps, messages), "nonsense"]))
    answers = {answer["id"]: answer for answer in map(json.loads, run.stdout.splitlines())}
    assert answers.keys() == {1, 2, 3, None}
    assert answers[1]["result"] == {}
    assert answers[2]["error"]["code"] == -32601
    assert answers[3]["error"]["data"]["code"] == "insufficient_scope"
    assert answers[None]["error"]["code"] == -32700
    assert run.returncode == 0
