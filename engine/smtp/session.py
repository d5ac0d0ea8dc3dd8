"""Ask a mail server whether it takes mail for an address, without sending any."""

import re
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.smtp.reply_text import read_code
from engine.smtp.wire import Ended, SmtpOutcome, Unsendable, Wire
from engine.syntax.parsing import SyntaxProblem, parse_address

_PATH = re.compile(r'[^\s<>"\\@\x00-\x1f\x7f]+@[a-z0-9.-]+')
_EHLO_NAME = re.compile(r"[A-Za-z0-9.-]+")
# As mail servers do among themselves: most certificates are for other names.
_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_TLS.check_hostname = False
_TLS.verify_mode = ssl.CERT_NONE


class MailboxQuestion(NamedTuple):
    ehlo_name: str
    sender: str
    recipient: str
    # Gets the recipient's reply. May name another recipient to ask about.
    next_recipient: Callable[[bytes], str | None] = lambda _: None


class Step(NamedTuple):
    # connect, ehlo, starttls, mail or rcpt.
    stage: str
    # All lines with their codes, joined by LF.
    reply: bytes
    is_encrypted: bool


@dataclass
class Conversation:
    outcome: SmtpOutcome = SmtpOutcome.REPLIED
    # Where it ended.
    stage: str = "connect"
    steps: list[Step] = field(default_factory=list)
    is_encrypted: bool = False
    # Keywords of the last reply to EHLO.
    extensions: frozenset[str] = frozenset()

    @property
    def reply(self) -> bytes:
        """The last reply, which is about `stage` if the outcome is `replied`."""
        return self.steps[-1].reply if self.steps else b""

    @property
    def recipient_replies(self) -> list[bytes]:
        return [step.reply for step in self.steps if step.stage == "rcpt"]


def talk(wire: Wire, question: MailboxQuestion, *, starttls: bool = True) -> Conversation:
    """Converse over a connection, which the caller closes. No reply raises an exception.

    Raise Unsendable, a ValueError, for names and addresses that can't be part of a command.
    """
    session = _Session(wire, question)
    conversation = session.conversation
    try:
        session.run(starttls)
    except Ended as ended:
        conversation.outcome = ended.outcome
    except TimeoutError:
        conversation.outcome = SmtpOutcome.TIMED_OUT
    except OSError:
        conversation.outcome = SmtpOutcome.DROPPED
    if conversation.outcome != SmtpOutcome.REPLIED and conversation.stage == "starttls":
        conversation.outcome = SmtpOutcome.TLS_FAILED
    else:
        wire.quit()
    return conversation


class _Session:
    def __init__(self, wire: Wire, question: MailboxQuestion) -> None:
        if not _EHLO_NAME.fullmatch(question.ehlo_name):
            raise Unsendable(question.ehlo_name)
        self.conversation = Conversation()
        self._wire = wire
        self._question = question
        self._sender, self._recipient = _path(question.sender), _path(question.recipient)

    def run(self, starttls: bool) -> None:
        conversation = self.conversation
        self._ask("connect", None, must_succeed=True)
        self._greet()
        if starttls and "STARTTLS" in conversation.extensions:
            code, _ = self._ask("starttls", "STARTTLS")
            if code != 220:
                # After 421 the server is busy, in clear too.
                raise Ended(SmtpOutcome.REPLIED if code == 421 else SmtpOutcome.TLS_FAILED)
            self._wire.start_tls(_TLS)
            conversation.is_encrypted = True
            self._greet()
        parameters = "" if (self._sender + self._recipient).isascii() else " SMTPUTF8"
        if parameters and "SMTPUTF8" not in conversation.extensions:
            raise Ended(SmtpOutcome.NO_SMTPUTF8)
        self._ask("mail", f"MAIL FROM:<{self._sender}>{parameters}", must_succeed=True)
        code, reply = self._ask("rcpt", f"RCPT TO:<{self._recipient}>")
        if code != 421 and (another := self._question.next_recipient(reply)):
            self._ask("rcpt", f"RCPT TO:<{_path(another)}>")

    def _greet(self) -> None:
        name = self._question.ehlo_name
        code, reply = self._ask("ehlo", f"EHLO {name}")
        # 521 (RFC 7504): the server never takes mail.
        if code // 100 == 5 and code != 521:
            # The refusal says more than how the connection ends after it.
            with suppress(Ended, OSError):
                code, reply = self._ask("ehlo", f"HELO {name}")
        if code // 100 != 2:
            raise Ended(SmtpOutcome.REPLIED)
        words = (line[4:].split(maxsplit=1) for line in reply.split(b"\n")[1:])
        self.conversation.extensions = frozenset(
            word[0].decode("ascii", "replace").upper() for word in words if word
        )

    def _ask(
        self, stage: str, command: str | None, *, must_succeed: bool = False
    ) -> tuple[int, bytes]:
        """Return the reply, and its code or 0."""
        conversation = self.conversation
        conversation.stage = stage
        reply = self._wire.exchange(command)
        conversation.steps.append(Step(stage, reply, conversation.is_encrypted))
        code = read_code(reply.decode("latin-1")) or 0
        if must_succeed and code // 100 != 2:
            raise Ended(SmtpOutcome.REPLIED)
        return code, reply


def _path(email: str) -> str:
    """Return an address as MAIL and RCPT take it, built from its parts."""
    parts = parse_address(email)
    path = "" if isinstance(parts, SyntaxProblem) else f"{parts.local_part}@{parts.ascii_domain}"
    if not _PATH.fullmatch(path) or parse_address(path) != parts:
        raise Unsendable("Not an address, or another one when it's parsed again")
    return path
