"""Ask a domain's mail hosts whether a mailbox exists: its name first, then a control name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.smtp.connect import Dialer, HostAnswer, MailTarget, find_targets, probe_host
from engine.smtp.mailbox import MailboxAnswer, decide, needs_control, needs_postmaster
from engine.smtp.replies import ReplyClass, classify
from engine.smtp.session import Conversation, MailboxQuestion
from engine.smtp.wire import SmtpOutcome

# Of conversations without a reply to the name.
_REASONS = {
    SmtpOutcome.TIMED_OUT: "smtp_timeout",
    SmtpOutcome.UNREACHABLE: "smtp_unreachable",
    SmtpOutcome.NO_ADDRESS: "smtp_unreachable",
    SmtpOutcome.PROXY_FAILED: "check_failed",
    # The address can't be asked about in ASCII, so only the domain is known.
    SmtpOutcome.NO_SMTPUTF8: "domain_accepts_mail",
}


class HostFacts(NamedTuple):
    """What is known of a host and the domain from earlier conversations."""

    control: ReplyClass | None = None
    accepted_recently: bool = False


class MailboxReply(NamedTuple):
    answer: MailboxAnswer
    # Empty: the hosts have no public address.
    host: str
    conversation: Conversation
    # None: no reply to the name, and none to a control name in this conversation.
    name: ReplyClass | None = None
    control: ReplyClass | None = None


@dataclass(frozen=True)
class Prober:
    find_addresses: Callable[[str], frozenset[str] | None]
    dial: Dialer
    ehlo_name: str
    sender: str

    def ask(
        self,
        email: str,
        *,
        hosts: Sequence[str],
        provider: str | None,
        control_email: str,
        facts: Mapping[str, HostFacts],
    ) -> MailboxReply:
        """Return the answer for a valid address. `hosts` are in MX order, `facts` by host."""
        local_part, _, domain = email.rpartition("@")
        targets = find_targets(hosts, self.find_addresses)
        name = ReplyClass.NO_MAIL
        while name == ReplyClass.NO_MAIL:
            asked = self._converse(targets, email)
            conversation = asked.conversation
            host = asked.target.host if asked.target else ""
            if conversation.outcome != SmtpOutcome.REPLIED:
                reason = _REASONS.get(conversation.outcome, "server_temporary_error")
                return MailboxReply(MailboxAnswer(reason), host, conversation)
            name = classify(conversation.stage, conversation.reply, provider, local_part)
        if not needs_control(name):
            return MailboxReply(decide(name), host, conversation, name)
        known = facts.get(host, HostFacts())
        if name == ReplyClass.ACCEPTED and known.control is not None:
            return MailboxReply(decide(name, known.control), host, conversation, name)

        def ask_postmaster(reply: bytes) -> str | None:
            control = classify("rcpt", reply, provider, control_email.rpartition("@")[0])
            is_needed = needs_postmaster(name, control, accepted_recently=known.accepted_recently)
            return f"postmaster@{domain}" if is_needed else None

        asked_again = self._converse(
            [asked.target] if asked.target else [],
            control_email,
            starttls=conversation.is_encrypted,
            next_recipient=ask_postmaster,
        )
        names = (control_email.rpartition("@")[0], "postmaster")
        replies = asked_again.conversation.recipient_replies
        classes = [
            classify("rcpt", reply, provider, asked_name)
            for asked_name, reply in zip(names, replies, strict=False)
        ]
        control, postmaster = (*classes, None, None)[:2]
        answer = decide(
            name, control, accepted_recently=known.accepted_recently, postmaster=postmaster
        )
        return MailboxReply(answer, host, conversation, name, control)

    def _converse(
        self,
        targets: Iterable[MailTarget],
        recipient: str,
        *,
        starttls: bool = True,
        next_recipient: Callable[[bytes], str | None] = lambda _: None,
    ) -> HostAnswer:
        question = MailboxQuestion(self.ehlo_name, self.sender, recipient, next_recipient)
        return probe_host(targets, question, dial=self.dial, starttls=starttls)
