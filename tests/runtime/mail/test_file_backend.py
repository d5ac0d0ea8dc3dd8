from email import message_from_bytes
from pathlib import Path

from django.core.mail import EmailMessage, get_connection


def test_each_email_is_a_file_and_names_sort_by_time(tmp_path: Path) -> None:
    connection = get_connection("runtime.mail.file_backend.EmailBackend", file_path=str(tmp_path))
    connection.send_messages([EmailMessage(subject, "x") for subject in ("first", "second")])
    connection.send_messages([EmailMessage("third", "x")])
    mails = [message_from_bytes(path.read_bytes()) for path in sorted(tmp_path.iterdir())]
    assert [mail["Subject"] for mail in mails] == ["first", "second", "third"]
