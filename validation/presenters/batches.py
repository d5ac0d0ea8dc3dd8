from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine import Verdict, explain_result
from runtime.csv_download import Row, csv_data_url, to_cell
from validation.presenters.domains import account_list_note

Document = Mapping[str, Any]


@dataclass(frozen=True)
class BatchRow:
    line: int
    result: Document
    repeats: int | None
    # The request's page. Empty if the account doesn't store requests.
    url: str

    @property
    def reason(self) -> str:
        if problem := self.result["syntax_error"]:
            return str(problem["message"])
        return explain_result(self.result["reason"], self.result["did_you_mean"]).means

    @property
    def note(self) -> str:
        notes = [account_list_note(self.result["account_list"], self.result["verdict"])]
        if self.repeats is not None:
            notes.append(f"Repeats line {self.repeats}, for free.")
        return " ".join(filter(None, notes))


# Each column of the CSV file, and what it means.
CSV_COLUMNS = {
    "line": "The line of your text",
    "email": "The address",
    "verdict": "The overall result",
    "reason": "The code of the main reason",
    "did_you_mean": "The suggested correction, if there is one",
    "score": "0 to 100, or empty if the verdict is unknown",
    "safe_to_send": "yes, no, or empty if the mailbox was not checked",
    "accept_for_signup": "Whether a sign-up form should accept the address: yes or no",
    "account_list": "Which list of your own domains has the domain: allowed, denied, or empty",
    "repeats_line": "The earlier line with the same address, or empty",
    "credits": "The credits charged",
    "id": "The result ID",
}


@dataclass(frozen=True)
class BatchReport:
    document: Document
    rows: list[BatchRow]

    @property
    def shares(self) -> list[tuple[str, int, float]]:
        counts = {verdict.value: self.document["summary"][verdict.value] for verdict in Verdict}
        total = sum(counts.values())
        return [(verdict, count, 100 * count / total) for verdict, count in counts.items()]

    @property
    def is_logged(self) -> bool:
        return any(row.url for row in self.rows)

    @property
    def csv_url(self) -> str:
        return csv_data_url(self.csv_rows())

    def csv_rows(self) -> Iterator[Row]:
        yield [*CSV_COLUMNS]
        for row in self.rows:
            values = {**row.result, "line": row.line, "repeats_line": row.repeats}
            values["credits"] = row.result["credits"]["charged"]
            yield [to_cell(values[name]) for name in CSV_COLUMNS]


def present_batch(document: Document, lines: Sequence[int], urls: Mapping[str, str]) -> BatchReport:
    """Build the report. `lines` are line numbers, and `urls` the requests' pages by result id."""
    rows = []
    for line, result in zip(lines, document["results"], strict=True):
        index = result["duplicate_of"]
        repeats = None if index is None else lines[index]
        rows.append(BatchRow(line, result, repeats, urls.get(result["id"], "")))
    return BatchReport(document, rows)
