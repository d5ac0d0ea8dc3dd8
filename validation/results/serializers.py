"""What POST /v1/validate reads and returns. Its view is hot, and does without."""

from functools import partial

from django.conf import settings

from apikeys.rest import fields
from apikeys.rest.serializers import ApiSerializer
from engine import Verdict
from validation.models import Check

DEFAULT_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS = 8, 30

# For requests, where mailbox checks are on.
CHECK = fields.Choice(
    "`mailbox` also asks the mail server whether the mailbox exists. The answer may take minutes: "
    "then the result is pending",
    list(Check),
    required=False,
)
TIMEOUT = fields.Integer(
    "Seconds to wait for mail servers. 8 by default. Only for `mailbox`",
    required=False,
    min_value=1,
    max_value=MAX_TIMEOUT_SECONDS,
)


class ValidateSerializer(ApiSerializer):
    email = fields.String(
        "The address to validate. Spaces around it are not trimmed", min_length=1, max_length=320
    )
    if settings.PROBE_MAILBOX_CHECKS:
        check = CHECK
        timeout_s = TIMEOUT

    examples = {"An address": {"email": "jane@shop.example"}}


_check = partial(fields.Boolean, allow_null=True)


class ChecksSerializer(ApiSerializer):
    syntax = _check("Valid syntax")
    domain_exists = _check("The domain exists in the DNS")
    accepts_mail = _check("The domain has a mail host with an IP address")
    null_mx = _check("The domain publishes a null MX record: it accepts no mail")
    disposable = _check("Disposable email provider")
    free_provider = _check("Free email provider, such as gmail.com")
    relay = _check("Relay address that forwards to a hidden mailbox")
    role_account = _check("Role account, such as info or sales")
    no_reply = _check("No-reply address")
    has_tag = _check("Contains a +tag")
    reserved_domain = _check("Domain reserved for tests and documentation")
    smtputf8_required = _check("Delivery requires SMTPUTF8 support")
    mixed_script = _check("Mixes letters of several scripts, a sign of spoofing")
    accept_all = _check("The server accepts mail for every mailbox, existing or not")
    mailbox_exists = _check("The mailbox exists")
    mailbox_full = _check("The mailbox is full")
    mailbox_disabled = _check("The mailbox is disabled")
    machine_address = _check(
        "Made by software and read by no person, such as `bounces+…`, `prvs=…`, `SRS0=…`, and "
        "`…@users.noreply.github.com`. Never changes the verdict"
    )
    placeholder = _check(
        "A mailbox that people type if a form requires an address, such as `none`, `noemail`, "
        "`test`, or `asdf`. Never changes the verdict"
    )


class SyntaxProblemSerializer(ApiSerializer):
    code = fields.String("Stable code of the mistake")
    message = fields.String("Explanation for people. The wording may change")


class MxRecordSerializer(ApiSerializer):
    preference = fields.Integer("Mail servers try the lowest number first")
    host = fields.String("The mail host")


class MxSerializer(ApiSerializer):
    provider = fields.String("Mail provider, such as `google` or `microsoft_365`", allow_null=True)
    fallback = fields.Choice(
        "Record type that mail falls back to when the domain has no MX record",
        ["a", "aaaa"],
        allow_null=True,
    )
    gateway = fields.Boolean(
        "Whether a security gateway, such as Mimecast, receives the mail in front of the "
        "server that has the mailbox",
        allow_null=True,
    )
    ipv4 = fields.Boolean(
        "False if all hosts have only IPv6 addresses: many senders can't reach it", allow_null=True
    )
    records = MxRecordSerializer(many=True, help_text="The domain's MX records")


class DomainAuthSerializer(ApiSerializer):
    spf = fields.Choice(
        "SPF policy: who may send on behalf of the domain",
        ["none", "soft", "strict", "denies_all"],
        allow_null=True,
    )
    dmarc = fields.Choice(
        "DMARC policy (RFC 9989) for mail that fails authentication",
        ["none", "quarantine", "reject"],
        allow_null=True,
    )


class SmtpSerializer(ApiSerializer):
    state = fields.Choice("Whether the mail server was asked", ["pending", "done", "skipped"])
    host = fields.String("The mail host that replied", allow_null=True)
    stage = fields.Choice(
        "The stage of the conversation that the reply belongs to",
        ["connect", "ehlo", "starttls", "mail", "rcpt"],
        allow_null=True,
    )
    code = fields.Integer("The reply code, such as 550", allow_null=True)
    status = fields.String("The enhanced status code, such as `5.1.1`", allow_null=True)
    message = fields.String("The reply, without addresses", allow_null=True)
    tls = fields.Boolean("Whether the conversation was encrypted", allow_null=True)
    control = fields.Choice(
        "How the mail server treats a made-up mailbox of the same domain",
        ["accepted", "refused", "unclear"],
        allow_null=True,
    )
    probed_at = fields.DateTime("Time of the reply", allow_null=True)
    attempts = fields.Integer("Conversations so far", allow_null=True)
    skipped = fields.Choice(
        "Why the mail server wasn't asked. `decided`: the DNS or our data decides. "
        "`provider_hides`: the provider doesn't say which mailboxes exist. `opted_out`: the "
        "domain's postmaster doesn't want to be asked. `harvest_guard`: you asked for many "
        "mailboxes of the domain that don't exist. `cooling_down`: the mail host refuses us for "
        "a while",
        ["decided", "provider_hides", "opted_out", "harvest_guard", "cooling_down"],
        allow_null=True,
    )


class ConsultedListsSerializer(ApiSerializer):
    disposable = fields.Date("Date of the list of disposable domains")
    disposable_by = fields.Choice(
        "What makes the domain disposable: its own name, or a mail host of a disposable "
        "email service. Null if it isn't disposable",
        ["domain", "mx"],
        allow_null=True,
    )


class ResultCreditsSerializer(ApiSerializer):
    charged = fields.Count("Credits charged for this request")
    held = fields.Count("Credits held while a mailbox check is pending. They aren't charged yet")
    remaining = fields.Count("Balance after this request")


class ResultSerializer(ApiSerializer):
    id = fields.String("Result ID (`val_…`). Include it when you contact support")
    created_at = fields.DateTime("Creation time in UTC")
    sandbox = fields.Boolean("True for simulated sandbox results")
    email = fields.String("The address as you sent it")
    normalized = fields.String(
        "The address in Unicode NFC with a lowercase domain", allow_null=True
    )
    canonical = fields.String(
        "The mailbox that aliases deliver to, by the rules of known providers", allow_null=True
    )
    verdict = fields.Choice("The overall result", [verdict.value for verdict in Verdict])
    reason = fields.String(
        "The main reason for the verdict: the first of `reasons`. New reasons may be "
        "added, so handle unknown ones by their verdict"
    )
    reasons = fields.Strings("All reasons for the verdict")
    score = fields.Integer(
        "Undeliverable: 0. Risky: 10 to 69. Deliverable: 70 to 100. Unknown: null",
        allow_null=True,
        min_value=0,
        max_value=100,
    )
    evidence = fields.Choice("The last stage of checks that ran", ["syntax", "dns", "smtp"])
    safe_to_send = fields.Boolean(
        "True only if the mail server accepted the mailbox. Null if the mailbox was not checked",
        allow_null=True,
    )
    accept_for_signup = fields.Boolean(
        "Whether a sign-up form should accept the address. Offer `did_you_mean` as a correction"
    )
    did_you_mean = fields.String("Suggested correction, as a complete address", allow_null=True)
    lookalike_of = fields.String(
        "The famous domain that this one imitates with similar letters, as `rnicrosoft.com` "
        "does, if it accepts no mail or is parked. Never changes the verdict",
        allow_null=True,
    )
    retry_after_s = fields.Integer(
        "Seconds to wait before you retry an unknown result", allow_null=True
    )
    local_part = fields.String("The part before the @", allow_null=True)
    tag = fields.String("The part between + and @", allow_null=True)
    domain = fields.String("The part after the @, in Unicode", allow_null=True)
    ascii_domain = fields.String("The domain in ASCII, as the DNS stores it", allow_null=True)
    registrable_domain = fields.String(
        "The registered part of the domain, such as `shop.example`", allow_null=True
    )
    checks = ChecksSerializer(help_text="Null means the check did not run or was inconclusive")
    syntax_error = SyntaxProblemSerializer(
        allow_null=True, help_text="The syntax error, if there is one"
    )
    mx = MxSerializer(help_text="Where mail for the domain is delivered")
    domain_auth = DomainAuthSerializer(
        help_text="The domain's SPF and DMARC policies. Null if they could not be determined"
    )
    smtp = SmtpSerializer(
        allow_null=True,
        help_text="What the mail server said about the mailbox. Null without a mailbox check",
    )
    lists = ConsultedListsSerializer(
        help_text="The domain data that was consulted: its date, and what it says"
    )
    account_list = fields.Choice(
        "Which list of your own domains has the domain, or a domain above it. It changes "
        "`accept_for_signup` and `safe_to_send`, never the verdict",
        ["allowed", "denied"],
        allow_null=True,
    )
    duration_ms = fields.Count("Duration of the checks in milliseconds")
    dns_cached = fields.Boolean(
        "Whether all DNS replies came from the cache. Null if none were needed", allow_null=True
    )
    credits = ResultCreditsSerializer(
        help_text="Credits charged and remaining. Unknown results are free"
    )
