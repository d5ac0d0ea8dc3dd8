"""Ask a mail server about one mailbox, and remember what it said.

Only `prepare` and `remember` use the database, and only `converse` uses the network.
"""

import logging
from datetime import timedelta
from typing import Any, NamedTuple

import orjson
from django.conf import settings
from django.db import connection
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.engine import get_engine
from engine import (
    Finding,
    HostFacts,
    MailboxReply,
    Prober,
    ReplyClass,
    control_name,
    read_code,
    read_status,
    redact,
    smtp_document,
    with_mailbox,
    without_answer,
)
from runtime.encryption import DecryptionFailed, decrypt
from runtime.json_text import render_json
from validation.models import AcceptAllDomain, KnownMailbox, Probe
from validation.probes.assessment import Knowledge, answer_from, read_knowledge
from validation.probes.egress import egresses

logger = logging.getLogger(__name__)

# How long an answer is returned without asking again.
LIFETIMES = {
    "mailbox_accepted": timedelta(hours=24),
    "mailbox_not_found": timedelta(hours=6),
    "mailbox_disabled": timedelta(hours=6),
    "mailbox_full": timedelta(hours=1),
}
CONTROL_LIFETIME, ACCEPTED_LIFETIME = timedelta(hours=24), timedelta(days=30)
# Of the name or the control, or without any reply.
RETRIED = (ReplyClass.GREYLISTED, ReplyClass.TEMPORARY, None)
BUSY = 421


class Question(NamedTuple):
    # Empty: it was encrypted with a SECRET_KEY that was removed.
    email: str
    address_hash: str
    domain: str
    egress: str
    # Of this conversation: 1 is the first.
    attempt: int
    # By host.
    facts: dict[str, HostFacts]
    # Of a list's check, which may have waited for hours.
    knowledge: Knowledge | None


class Answer(NamedTuple):
    # What the result is, unless the host is asked again.
    finding: Finding
    may_ask_again: bool = False
    # The host doesn't want to be asked, or not so often.
    refused_us: bool = False
    reply_class: ReplyClass | None = None
    # Redacted, for staff.
    last_reply: str = ""
    # None: no host was asked.
    question: Question | None = None
    reply: MailboxReply | None = None


def prepare(probe: Probe) -> Question:
    facts, now = {}, timezone.now()
    for row in AcceptAllDomain.objects.filter(domain=probe.domain):
        is_fresh = row.control_at is not None and row.control_at > now - CONTROL_LIFETIME
        control = ReplyClass.ACCEPTED if row.accepts_all else ReplyClass.GONE
        accepted_recently = (
            row.accepted_at is not None and row.accepted_at > now - ACCEPTED_LIFETIME
        )
        facts[row.host] = HostFacts(control if is_fresh else None, accepted_recently)
    try:
        email = decrypt(probe.email)
    except DecryptionFailed:
        email = ""
    is_of_list = probe.group_id is not None
    return Question(
        email,
        *(probe.address_hash, probe.domain, probe.egress, probe.tries + 1),
        facts,
        read_knowledge(probe.account, email, probe.organization) if is_of_list else None,
    )


def converse(question: Question) -> Answer:
    """Never raises, and leaves no connection to the database behind."""
    if not question.email:
        return give_up(question, "check_failed")
    try:
        return _converse(question)
    except Exception:
        logger.exception("A mailbox check failed")
        return give_up(question, "check_failed")
    finally:
        _close_connection()


def give_up(question: Question, reason: str) -> Answer:
    """Return the answer of a check that ends without one."""
    if not question.email:
        return Answer(Finding("", ("check_failed",), "syntax"))
    try:
        finding = get_engine().check(question.email)
        return Answer(without_answer(finding, reason, question.attempt - 1))
    finally:
        _close_connection()


def _converse(question: Question) -> Answer:
    engine = get_engine()
    finding = engine.check(question.email)
    parts, route = finding.parts, finding.route
    if parts is None or not finding.is_definite or not route.accepts_mail:
        # The domain has changed since the check began.
        return Answer(finding._replace(smtp=smtp_document("skipped", skipped="decided")))
    if question.knowledge and (known := answer_from(question.knowledge, finding)):
        return Answer(known)
    prober = Prober(
        engine.find_addresses,
        egresses()[question.egress],
        settings.PROBE_DOMAIN,
        settings.PROBE_SENDER,
    )
    key = salted_hmac("validation.probes.control", "", secret=settings.ADDRESS_HASH_KEY).digest()
    control = control_name(parts.ascii_domain, key, timezone.now().date())
    reply = prober.ask(
        f"{parts.local_part}@{parts.ascii_domain}",
        hosts=[mail_host.host for mail_host in route.hosts] or [parts.ascii_domain],
        provider=route.provider,
        control_email=f"{control}@{parts.ascii_domain}",
        facts=question.facts,
    )
    smtp = _describe(question, reply, parts.local_part)
    finding = with_mailbox(finding, reply.answer, smtp)
    is_retried = reply.name in RETRIED or reply.control in RETRIED[:2]
    return Answer(
        finding,
        may_ask_again=is_retried and not finding.is_definite,
        refused_us=ReplyClass.REFUSED_US in (reply.name, reply.control) or smtp["code"] == BUSY,
        reply_class=reply.name,
        last_reply=smtp["message"] or reply.conversation.outcome,
        question=question,
        reply=reply,
    )


def _close_connection() -> None:
    """Close this greenlet's connection, if the engine read staff's domains."""
    if not connection.in_atomic_block:
        connection.close()


def _describe(question: Question, reply: MailboxReply, local_part: str) -> dict[str, Any]:
    conversation = reply.conversation
    text = conversation.reply.decode("utf-8", "replace")
    code = read_code(text) if text else None
    return smtp_document(
        "done",
        host=reply.host or None,
        stage=conversation.stage,
        code=code,
        status=read_status(text, code) or None if code else None,
        message=redact(text, local_part) or None,
        tls=conversation.is_encrypted if reply.host else None,
        control=reply.answer.control,
        probed_at=timezone.now(),
        attempts=question.attempt,
    )


def remember(answer: Answer) -> None:
    """Store a definite answer for later checks, and what the host said of the control name."""
    question, reply = answer.question, answer.reply
    if question is None or reply is None or not reply.host:
        return
    now, reason = timezone.now(), reply.answer.reason
    if lifetime := LIFETIMES.get(reason):
        # With the time as a text.
        smtp = orjson.loads(render_json(answer.finding.smtp))
        values = {"reason": reason, "smtp": smtp, "expires_at": now + lifetime}
        KnownMailbox.objects.update_or_create(pk=question.address_hash, defaults=values)
    facts: dict[str, object] = {}
    if reply.control in (ReplyClass.ACCEPTED, ReplyClass.GONE):
        facts |= {"accepts_all": reply.control == ReplyClass.ACCEPTED, "control_at": now}
    if reason == "mailbox_accepted":
        facts["accepted_at"] = now
    if facts:
        AcceptAllDomain.objects.update_or_create(
            domain=question.domain, host=reply.host, defaults=facts
        )
