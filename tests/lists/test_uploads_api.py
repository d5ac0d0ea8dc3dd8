"""The operations that create and upload lists."""

import base64
import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apikeys.models import ApiKey
from credits.models import Plan
from lists.models import AddressList, ListPart, ListUpload
from lists.models.states import ListState
from lists.uploads.services import MAX_PART_BYTES
from tests.lists.files.spreadsheets import build_table
from tests.lists.uploads import parse, rows_of
from tests.support.api_client import ApiClient, error_code, refusal
from validation.models import Replay

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
EMAILS = ["jane@shop.com", "a\nb@shop.com", ""]


def create(caller: ApiClient, document: Any, **headers: str) -> Any:
    return caller.send_json("POST", "/v1/lists", document, **headers)


def send_file(caller: ApiClient, content: bytes, query: str = "", **headers: str) -> Any:
    headers.setdefault("Content-Type", "text/csv")
    return caller.call("POST", f"/v1/lists{query}", content, **headers)


def digest(content: bytes) -> str:
    return base64.b64encode(hashlib.sha256(content).digest()).decode()


def put_part(caller: ApiClient, path: str, content: bytes, **headers: str) -> Any:
    headers = headers or {"Content-Digest": f"sha-256=:{digest(content)}:"}
    headers["Content-Type"] = "application/octet-stream"
    return caller.call("PUT", path, content, **headers)


def test_addresses_as_json_are_a_list(caller: ApiClient, key: ApiKey) -> None:
    response = create(
        caller,
        {
            "name": "Spring",
            "emails": EMAILS,
            "dedupe": "mailbox",
            "recheck_unknown": False,
            "start": True,
            "max_credits": 5,
            "metadata": {"campaign": "spring"},
        },
    )
    assert response.status_code == 201
    created = AddressList.objects.get()
    assert response.headers["Location"] == f"/v1/lists/{created.public_id}"
    document = response.json()
    assert (document["id"], document["state"]) == (created.public_id, "parsing")
    assert document["metadata"] == {"campaign": "spring"}
    assert (created.key, created.created_by) == (key, "API key The Shop's server")
    chosen = (created.dedupe, created.rechecks_unknown, created.max_credits)
    assert chosen == ("mailbox", False, 5)
    assert created.starts_when_ready
    (rows,) = rows_of(parse())
    assert rows.cells == [[email] for email in EMAILS]
    # The location can be followed, and shows the list.
    assert caller.get(response.headers["Location"]).json()["name"] == "Spring"


@pytest.mark.parametrize(
    ("media_type", "content"),
    [
        ("text/csv", b"name;email\nJane;jane@shop.com\n"),
        ("text/tab-separated-values; charset=utf-8", b"name\temail\nJane\tjane@shop.com\n"),
        (XLSX, build_table([["name", "email"], ["Jane", "jane@shop.com"]])),
    ],
)
def test_file_is_a_list(caller: ApiClient, media_type: str, content: bytes) -> None:
    response = send_file(caller, content, "?name=a.csv", **{"Content-Type": media_type})
    assert response.status_code == 201
    parsed = parse()
    assert (parsed.state, parsed.name, parsed.column) == (ListState.READY, "a.csv", 1)
    assert rows_of(parsed)[0].cells == [["Jane", "jane@shop.com"]]


def test_options_of_a_file_are_query_parameters(caller: ApiClient) -> None:
    query = "?column=1&header=false&delimiter=%3B&dedupe=off&recheck_unknown=false&max_credits=9"
    query += "&encoding=Windows-1251"
    assert send_file(caller, b"a@x.com;b@x.com\n", query).status_code == 201
    created = AddressList.objects.get()
    assert created.encoding == "cp1251"
    assert (created.column, created.has_header, created.delimiter) == (1, False, ";")
    chosen = (created.dedupe, created.rechecks_unknown, created.max_credits)
    assert chosen == ("off", False, 9)
    assert not created.starts_when_ready


def test_metadata_of_a_file_is_sent_in_brackets(caller: ApiClient) -> None:
    query = "?metadata%5Bcampaign%5D=spring&name=a.csv&metadata[team]=sales%20%26%20co"
    response = send_file(caller, b"a@x.com", query)
    assert response.status_code == 201, response.content
    assert response.json()["metadata"] == {"campaign": "spring", "team": "sales & co"}
    assert AddressList.objects.get().name == "a.csv"


def test_wrong_field_is_refused(caller: ApiClient) -> None:
    for document, code, param in (
        ({}, "missing_field", "emails"),
        ({"check": 1}, "missing_field", "emails"),
        ({"emails": []}, "invalid_field", "emails"),
        ({"emails": ["a@x.com", 1]}, "invalid_field", "emails[1]"),
        ({"emails": ["x" * 321]}, "invalid_field", "emails[0]"),
        ({"emails": [""] * 10_001}, "invalid_field", "emails"),
        ({"emails": [""], "header": True}, "unknown_field", "header"),
        ({"emails": [""], "other": 1}, "unknown_field", "other"),
        ({"parts": True, "emails": []}, "unknown_field", "emails"),
        ({"parts": "yes"}, "invalid_field", "parts"),
        ({"emails": [""], "dedupe": "domain"}, "invalid_field", "dedupe"),
        ({"emails": [""], "dedupe": 1}, "invalid_field", "dedupe"),
        ({"emails": [""], "start": 1}, "invalid_field", "start"),
        ({"emails": [""], "max_credits": 0}, "invalid_field", "max_credits"),
        ({"emails": [""], "max_credits": 10**20}, "invalid_field", "max_credits"),
        ({"emails": [""], "other": 10**20}, "unknown_field", "other"),
        ({"emails": [""], "metadata": []}, "invalid_field", "metadata"),
        ({"emails": [""], "metadata": {"a": 1}}, "invalid_field", "metadata"),
        ({"emails": [""], "metadata": {"a": "\0"}}, "invalid_field", "metadata"),
        ({"emails": [""], "metadata": {"a": "x" * 501}}, "invalid_field", "metadata"),
        (
            {"emails": [""], "metadata": dict.fromkeys("abcdefghijklmnopqrstu", "")},
            "invalid_field",
            "metadata",
        ),
        ({"emails": [""], "name": "\u202e"}, "invalid_field", "name"),
        ({"parts": True, "header": "yes"}, "invalid_field", "header"),
        ({"parts": True, "column": 99_999}, "invalid_field", "column"),
        ({"parts": True, "delimiter": "@"}, "invalid_field", "delimiter"),
        ({"parts": True, "encoding": "klingon"}, "invalid_field", "encoding"),
        ({"emails": [""], "encoding": "utf-8"}, "unknown_field", "encoding"),
    ):
        assert refusal(create(caller, document)) == (400, code, param), document
    assert not AddressList.objects.exists()


def test_wrong_parameter_is_refused(caller: ApiClient) -> None:
    for query, code, param in (
        ("?column=x", "invalid_field", "column"),
        ("?column=99999", "invalid_field", "column"),
        ("?header=yes", "invalid_field", "header"),
        ("?delimiter=ab", "invalid_field", "delimiter"),
        ("?encoding=rot13", "invalid_field", "encoding"),
        ("?name=%00", "invalid_field", "name"),
        ("?metadata=x", "unknown_field", "metadata"),
        ("?metadata[]=x", "invalid_field", "metadata"),
        ("?metadata[a]=%00", "invalid_field", "metadata"),
        ("?metadata[a]=x&metadata[a]=y", "invalid_field", "metadata"),
        ("?metadata[a][b]=x", "unknown_field", None),
        ("?name[a]=x", "unknown_field", None),
        ("?limit=1", "unknown_field", "limit"),
    ):
        assert refusal(send_file(caller, b"a@x.com", query)) == (400, code, param), query


def test_json_takes_no_parameters(caller: ApiClient) -> None:
    response = caller.call("POST", "/v1/lists?name=x", b'{"emails": ["a@x.com"]}')
    assert (response.status_code, error_code(response)) == (400, "unknown_field")
    assert "Put the options into the JSON body" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"Content-Type": "application/pdf"}, "text/csv"),
        ({"Content-Encoding": "gzip"}, "Send the body uncompressed"),
    ],
)
def test_other_media_type_is_415(caller: ApiClient, headers: dict[str, str], message: str) -> None:
    response = send_file(caller, b"x", **headers)
    assert (response.status_code, error_code(response)) == (415, "unsupported_media_type")
    assert message in response.json()["error"]["message"]


def test_body_may_have_eight_megabytes(caller: ApiClient) -> None:
    content = b"a@shop.com\n".ljust(MAX_PART_BYTES, b" ")
    assert send_file(caller, content).status_code == 201
    response = send_file(caller, content + b" ")
    assert (response.status_code, error_code(response)) == (413, "request_too_large")
    assert response.json()["error"]["message"] == "The body is larger than 8 MB."


def test_retry_with_the_same_key_creates_one_list(caller: ApiClient) -> None:
    first = create(caller, {"emails": ["a@x.com"]}, Idempotency_Key="list-1")
    parse()
    again = create(caller, {"emails": ["a@x.com"]}, Idempotency_Key="list-1")
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Location"] == first.headers["Location"]
    assert again.headers["Idempotent-Replayed"] == "true"
    assert AddressList.objects.count() == 1
    other = create(caller, {"emails": ["b@x.com"]}, Idempotency_Key="list-1")
    assert (other.status_code, error_code(other)) == (422, "idempotency_key_reused")


def test_file_with_other_options_needs_another_idempotency_key(caller: ApiClient) -> None:
    assert send_file(caller, b"a@x.com", Idempotency_Key="1").status_code == 201
    assert send_file(caller, b"a@x.com", Idempotency_Key="1").status_code == 201
    assert send_file(caller, b"a@x.com", "?column=0", Idempotency_Key="1").status_code == 422
    assert send_file(caller, b"b@x.com", Idempotency_Key="1").status_code == 422
    assert (AddressList.objects.count(), Replay.objects.count()) == (1, 1)


def test_key_of_a_validation_cannot_be_used_for_a_list(caller: ApiClient) -> None:
    caller.validate("no address", Idempotency_Key="1")
    assert create(caller, {"parts": True}, Idempotency_Key="1").status_code == 422


def test_file_is_uploaded_in_parts(caller: ApiClient) -> None:
    location = create(caller, {"parts": True, "header": False}).headers["Location"]
    assert caller.get(location).json()["state"] == "uploading"
    assert error_code(caller.call("POST", f"{location}/parse")) == "invalid_state"
    for number, content in ((2, b"shop"), (4, b".com\n")):
        part = put_part(caller, f"{location}/parts/{number}", content).json()
        sha256 = hashlib.sha256(content).hexdigest()
        assert part == {"number": number, "bytes": len(content), "sha256": sha256}
    missing = caller.call("POST", f"{location}/parse")
    assert (missing.status_code, error_code(missing)) == (409, "invalid_state")
    assert missing.json()["error"]["details"] == {"state": "uploading", "missing": [1, 3]}
    for number, content in ((1, b"jane@"), (3, b"s")):
        put_part(caller, f"{location}/parts/{number}", content)
    # Each is sent again, as after a lost response.
    for _ in range(2):
        parsing = caller.call("POST", f"{location}/parse")
        assert (parsing.status_code, parsing.json()["state"]) == (200, "parsing")
        assert put_part(caller, f"{location}/parts/3", b"s").status_code == 200
    assert AddressList.objects.get().bytes == 15
    assert rows_of(parse())[0].cells == [["jane@shops.com"]]
    late = put_part(caller, f"{location}/parts/3", b"x")
    for refused in (late, caller.call("POST", f"{location}/parse")):
        assert error_code(refused) == "invalid_state"


def test_part_can_be_sent_twice_but_not_with_other_bytes(caller: ApiClient) -> None:
    path = create(caller, {"parts": True}).headers["Location"] + "/parts/1"
    assert put_part(caller, path, b"a@x.com").content == put_part(caller, path, b"a@x.com").content
    conflict = put_part(caller, path, b"b@x.com")
    assert (conflict.status_code, error_code(conflict)) == (409, "part_conflict")


def test_stored_parts_can_be_read_to_resume_an_upload(caller: ApiClient) -> None:
    path = create(caller, {"parts": True}).headers["Location"] + "/parts"
    assert caller.get(path).json() == {"data": [], "has_more": False}
    parts = [put_part(caller, f"{path}/{number}", b"%d" % number).json() for number in (7, 2, 3)]
    first = caller.get(f"{path}?limit=2").json()
    assert first == {"data": [parts[1], parts[2]], "has_more": True}
    rest = caller.get(f"{path}?limit=2&starting_after=3").json()
    assert rest == {"data": [parts[0]], "has_more": False}
    for query in ("limit=1001", "starting_after=x"):
        assert error_code(caller.get(f"{path}?{query}")) == "invalid_field"


def test_part_needs_a_digest(caller: ApiClient) -> None:
    for headers, code in (
        ({"Content-Digest": "sha-512=:x:, sha-256=:DIGEST:"}, None),
        ({"Digest": "SHA-256=DIGEST"}, None),
        ({"X-Digest": "x"}, "missing_field"),
        ({"Content-Digest": "sha-512=:DIGEST:"}, "missing_field"),
        ({"Content-Digest": "sha-256=:DIGES:"}, "invalid_field"),
        ({"Content-Digest": "sha-256=:eA==:"}, "invalid_field"),
    ):
        path = create(caller, {"parts": True}).headers["Location"] + "/parts/1"
        content = b"a@x.com"
        sent = {name: value.replace("DIGEST", digest(content)) for name, value in headers.items()}
        response = put_part(caller, path, content, **sent)
        assert response.status_code == (400 if code else 200), response.content
        if code:
            assert refusal(response) == (400, code, "Content-Digest")


def test_part_that_was_damaged_on_its_way_is_refused(caller: ApiClient) -> None:
    path = create(caller, {"parts": True}).headers["Location"] + "/parts/1"
    sent = {"Content-Digest": f"sha-256=:{digest(b'a@x.com')}:"}
    response = put_part(caller, path, b"a@x.con", **sent)
    assert (response.status_code, error_code(response)) == (400, "invalid_field")
    assert not ListPart.objects.exists()


def test_empty_part_or_one_with_a_wrong_number_is_refused(caller: ApiClient) -> None:
    location = create(caller, {"parts": True}).headers["Location"]
    for number, content, param in (
        ("0", b"x", "number"),
        ("10001", b"x", "number"),
        ("9" * 30, b"x", "number"),
        ("1", b"", None),
    ):
        response = put_part(caller, f"{location}/parts/{number}", content)
        assert refusal(response) == (400, "invalid_field", param)


def test_daily_limit_has_its_own_retry_after(caller: ApiClient) -> None:
    Plan.objects.update(list_bytes=10)
    for _ in range(3):
        location = send_file(caller, b"abcdefghij").headers["Location"]
        assert caller.call("DELETE", location).status_code == 200
    response = send_file(caller, b"a@x.com")
    assert (response.status_code, error_code(response)) == (429, "rate_limit_exceeded")
    assert int(response.headers["Retry-After"]) > 80_000
    # The rate limit itself is not exhausted.
    assert int(response.headers["X-RateLimit-Remaining"]) > 0
    details = response.json()["error"]["details"]
    assert int(response.headers["X-RateLimit-Reset"]) < details["reset"]
    assert details["limit"] == 30
    ListUpload.objects.update(at=timezone.now() - timedelta(hours=24))
    assert send_file(caller, b"a@x.com").status_code == 201


def test_addresses_as_json_are_counted_before_they_are_parsed(caller: ApiClient) -> None:
    Plan.objects.update(list_addresses=4)
    emails = ["a@x.com", "A@x.com \n", '"a"@x.com.', "b@x.com", "c@x.com", "no address", "ü@x.com"]
    for _ in range(4):
        # At least three different addresses each.
        assert create(caller, {"emails": emails}).status_code == 201
    response = create(caller, {"emails": emails[:1]})
    assert (response.status_code, error_code(response)) == (429, "rate_limit_exceeded")
    assert int(response.headers["Retry-After"]) > 80_000
    message = response.json()["error"]["message"]
    assert message.startswith("You can upload up to 12 addresses in 24 hours. Try again at ")
    assert AddressList.objects.count() == 4


def test_too_many_addresses_as_json_are_refused(caller: ApiClient) -> None:
    Plan.objects.update(list_addresses=4)
    emails = ["a@x.com", "a@x.com", "b@x.com", "c@x.com", "d@x.com"]
    response = create(caller, {"emails": emails, "dedupe": "off"})
    assert (response.status_code, error_code(response)) == (400, "list_too_large")
    assert response.json()["error"]["details"] == {"limit": 4}
    # It depends on their mailboxes how many addresses these are.
    assert create(caller, {"emails": [*emails, "e@x.com"], "dedupe": "mailbox"}).status_code == 201
    assert create(caller, {"emails": emails}).status_code == 201
