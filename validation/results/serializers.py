"""Describe requests and responses for the OpenAPI schema. These serializers validate nothing."""

from rest_framework import serializers

from validation.engine.verdicts.finding import CHECKS
from validation.engine.verdicts.reasons import Verdict

Described = serializers.Serializer[None]


class ValidateSerializer(Described):
    email = serializers.CharField(
        min_length=1,
        max_length=320,
        trim_whitespace=False,
        help_text="The address to validate. Spaces around it are not trimmed",
    )


CHECK_MEANINGS = {
    "syntax": "Valid syntax",
    "domain_exists": "The domain exists in the DNS",
    "accepts_mail": "The domain has a mail host with an IP address",
    "null_mx": "The domain publishes a null MX record: it accepts no mail",
    "disposable": "Disposable email provider",
    "free_provider": "Free email provider, such as gmail.com",
    "relay": "Relay address that forwards to a hidden mailbox",
    "role_account": "Role account, such as info or sales",
    "no_reply": "No-reply address",
    "has_tag": "Contains a +tag",
    "reserved_domain": "Domain reserved for tests and documentation",
    "smtputf8_required": "Delivery requires SMTPUTF8 support",
    "mixed_script": "Mixes letters of several scripts, a sign of spoofing",
    "accept_all": "The server accepts mail for every mailbox, existing or not",
    "mailbox_exists": "The mailbox exists",
    "mailbox_full": "The mailbox is full",
    "mailbox_disabled": "The mailbox is disabled",
}


def _build_checks_serializer() -> type[Described]:
    fields = {
        name: serializers.BooleanField(allow_null=True, help_text=CHECK_MEANINGS[name])
        for name in CHECKS
    }
    return type("ChecksSerializer", (serializers.Serializer,), fields)


ChecksSerializer = _build_checks_serializer()


class SyntaxErrorSerializer(Described):
    code = serializers.CharField(help_text="Stable code of the mistake")
    message = serializers.CharField(help_text="Explanation for people. The wording may change")


class MxRecordSerializer(Described):
    preference = serializers.IntegerField(help_text="Mail servers try the lowest number first")
    host = serializers.CharField(help_text="The mail host")


class MxSerializer(Described):
    provider = serializers.CharField(
        allow_null=True, help_text="Mail provider, such as `google` or `microsoft_365`"
    )
    fallback = serializers.ChoiceField(
        ["a", "aaaa"],
        allow_null=True,
        help_text="Record type that mail falls back to when the domain has no MX record",
    )
    gateway = serializers.BooleanField(
        allow_null=True,
        help_text="Whether a security gateway, such as Mimecast, receives the mail in front of the "
        "server that has the mailbox",
    )
    ipv4 = serializers.BooleanField(
        allow_null=True,
        help_text="False if all hosts have only IPv6 addresses: many senders can't reach it",
    )
    records = MxRecordSerializer(many=True, help_text="The domain's MX records")


class DomainAuthSerializer(Described):
    spf = serializers.ChoiceField(
        ["none", "soft", "strict", "denies_all"],
        allow_null=True,
        help_text="SPF policy: who may send on behalf of the domain",
    )
    dmarc = serializers.ChoiceField(
        ["none", "quarantine", "reject"],
        allow_null=True,
        help_text="DMARC policy (RFC 9989) for mail that fails authentication",
    )


class ConsultedListsSerializer(Described):
    disposable = serializers.DateField(help_text="Date of the list of disposable domains")
    disposable_by = serializers.ChoiceField(
        ["domain", "mx"],
        allow_null=True,
        help_text="What makes the domain disposable: its own name, or a mail host of a disposable "
        "email service. Null if it isn't disposable",
    )


class ResultCreditsSerializer(Described):
    charged = serializers.IntegerField(min_value=0, help_text="Credits charged for this request")
    remaining = serializers.IntegerField(min_value=0, help_text="Balance after this request")


class ResultSerializer(Described):
    id = serializers.CharField(help_text="Result ID (`val_…`). Include it when you contact support")
    created_at = serializers.DateTimeField(help_text="Creation time in UTC")
    sandbox = serializers.BooleanField(help_text="True for simulated sandbox results")
    email = serializers.CharField(help_text="The address as you sent it")
    normalized = serializers.CharField(
        allow_null=True, help_text="The address in Unicode NFC with a lowercase domain"
    )
    canonical = serializers.CharField(
        allow_null=True,
        help_text="The mailbox that aliases deliver to, by the rules of known providers",
    )
    verdict = serializers.ChoiceField(
        [verdict.value for verdict in Verdict], help_text="The overall result"
    )
    reason = serializers.CharField(
        help_text="The main reason for the verdict: the first of `reasons`. New reasons may be "
        "added, so handle unknown ones by their verdict"
    )
    reasons = serializers.ListField(
        child=serializers.CharField(), help_text="All reasons for the verdict"
    )
    score = serializers.IntegerField(
        allow_null=True,
        min_value=0,
        max_value=100,
        help_text="Undeliverable: 0. Risky: 10 to 69. Deliverable: 70 to 100. Unknown: null",
    )
    evidence = serializers.ChoiceField(
        ["syntax", "dns", "smtp"], help_text="The last stage of checks that ran"
    )
    safe_to_send = serializers.BooleanField(
        allow_null=True,
        help_text="True only if the mail server accepted the mailbox. Null if the mailbox was not "
        "checked",
    )
    accept_for_signup = serializers.BooleanField(
        help_text="Whether a sign-up form should accept the address. Offer `did_you_mean` as a "
        "correction"
    )
    did_you_mean = serializers.CharField(
        allow_null=True, help_text="Suggested correction, as a complete address"
    )
    retry_after_s = serializers.IntegerField(
        allow_null=True,
        help_text="Seconds to wait before you retry an unknown result",
    )
    local_part = serializers.CharField(allow_null=True, help_text="The part before the @")
    tag = serializers.CharField(allow_null=True, help_text="The part between + and @")
    domain = serializers.CharField(allow_null=True, help_text="The part after the @, in Unicode")
    ascii_domain = serializers.CharField(
        allow_null=True, help_text="The domain in ASCII, as the DNS stores it"
    )
    registrable_domain = serializers.CharField(
        allow_null=True, help_text="The registered part of the domain, such as `shop.example`"
    )
    checks = ChecksSerializer(help_text="Null means the check did not run or was inconclusive")
    syntax_error = SyntaxErrorSerializer(
        allow_null=True, help_text="The syntax error, if there is one"
    )
    mx = MxSerializer(help_text="Where mail for the domain is delivered")
    domain_auth = DomainAuthSerializer(
        help_text="The domain's SPF and DMARC policies. Null if they could not be determined"
    )
    smtp = serializers.DictField(
        allow_null=True, help_text="Result of the mailbox check. Always null at present"
    )
    lists = ConsultedListsSerializer(
        help_text="The domain data that was consulted: its date, and what it says"
    )
    account_list = serializers.ChoiceField(
        ["allowed", "denied"],
        allow_null=True,
        help_text="Which list of your own domains has the domain, or a domain above it. It changes "
        "`accept_for_signup` and `safe_to_send`, never the verdict",
    )
    duration_ms = serializers.IntegerField(
        min_value=0, help_text="Duration of the checks in milliseconds"
    )
    dns_cached = serializers.BooleanField(
        allow_null=True,
        help_text="Whether all DNS replies came from the cache. Null if none were needed",
    )
    credits = ResultCreditsSerializer(
        help_text="Credits charged and remaining. Unknown results are free"
    )


class UsageDaySerializer(Described):
    date = serializers.DateField(help_text="The day, in UTC")
    requests = serializers.IntegerField(
        min_value=0, help_text="Number of validations, without sandbox and replayed ones"
    )
    credits = serializers.IntegerField(min_value=0, help_text="Credits charged")
    deliverable = serializers.IntegerField(min_value=0, help_text="Number of deliverable results")
    risky = serializers.IntegerField(min_value=0, help_text="Number of risky results")
    undeliverable = serializers.IntegerField(
        min_value=0, help_text="Number of undeliverable results"
    )
    unknown = serializers.IntegerField(
        min_value=0, help_text="Number of unknown results, which are free"
    )


class UsageSerializer(Described):
    # `from` is a Python keyword.
    vars()["from"] = serializers.DateField(help_text="The first day")
    to = serializers.DateField(help_text="The last day")
    days = UsageDaySerializer(
        many=True, help_text="One entry per day, including days without usage"
    )
