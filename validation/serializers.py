"""Describe requests and responses for the OpenAPI schema. These serializers validate nothing."""

from rest_framework import serializers

from validation.engine.reasons import Verdict
from validation.engine.verdict import CHECKS

Described = serializers.Serializer[None]


class ValidateSerializer(Described):
    email = serializers.CharField(
        min_length=1,
        max_length=320,
        trim_whitespace=False,
        help_text="The address, as it stands: nothing is trimmed",
    )


CHECK_MEANINGS = {
    "syntax": "It is written as an address must be",
    "domain_exists": "The domain is in the DNS",
    "accepts_mail": "The domain has a mail host that can be reached by an address",
    "null_mx": "The domain says that it takes no mail",
    "disposable": "The domain gives out throw-away addresses",
    "free_provider": "The domain gives out addresses for nothing, as gmail.com does",
    "relay": "A relay that hides its user's own address",
    "role_account": "It stands for a task, as info or sales do, and not for a person",
    "no_reply": "It says that nobody reads it",
    "has_tag": "It carries a +tag",
    "reserved_domain": "The domain is set aside for tests and examples",
    "smtputf8_required": "Only servers that take international addresses can deliver to it",
    "mixed_script": "It mixes letters of several scripts, as forgeries do",
    "accept_all": "The server takes mail for any mailbox, existing or not",
    "mailbox_exists": "The server knows the mailbox",
    "mailbox_full": "The mailbox has no room",
    "mailbox_disabled": "The mailbox is switched off",
}


def _build_checks_serializer() -> type[Described]:
    fields = {
        name: serializers.BooleanField(allow_null=True, help_text=CHECK_MEANINGS[name])
        for name in CHECKS
    }
    return type("ChecksSerializer", (serializers.Serializer,), fields)


ChecksSerializer = _build_checks_serializer()


class SyntaxErrorSerializer(Described):
    code = serializers.CharField(help_text="Stable")
    message = serializers.CharField(help_text="A sentence for people")


class MxRecordSerializer(Described):
    preference = serializers.IntegerField(help_text="The lowest is asked first")
    host = serializers.CharField(help_text="The mail host")


class MxSerializer(Described):
    provider = serializers.CharField(allow_null=True, help_text="`google`, `microsoft_365`, …")
    fallback = serializers.ChoiceField(
        ["a", "aaaa"],
        allow_null=True,
        help_text="There is no MX record, and mail would go to the domain's own address",
    )
    records = MxRecordSerializer(many=True, help_text="The domain's MX records")


class DomainAuthSerializer(Described):
    spf = serializers.ChoiceField(
        ["none", "soft", "strict", "denies_all"],
        allow_null=True,
        help_text="Whom the domain lets send in its name",
    )
    dmarc = serializers.ChoiceField(
        ["none", "quarantine", "reject"],
        allow_null=True,
        help_text="What it asks others to do with mail that is not from it",
    )


class ResultCreditsSerializer(Described):
    charged = serializers.IntegerField(min_value=0, help_text="What this request cost")
    remaining = serializers.IntegerField(min_value=0, help_text="The balance after it")


class ResultSerializer(Described):
    id = serializers.CharField(help_text="`val_…`; name it to support")
    created_at = serializers.DateTimeField(help_text="In UTC")
    sandbox = serializers.BooleanField(help_text="An invented answer, for trying")
    email = serializers.CharField(help_text="As it was sent")
    normalized = serializers.CharField(
        allow_null=True, help_text="In Unicode NFC, domain lower-case"
    )
    canonical = serializers.CharField(
        allow_null=True, help_text="The mailbox behind aliases, by rules of known providers"
    )
    verdict = serializers.ChoiceField(
        [verdict.value for verdict in Verdict], help_text="What the address is worth"
    )
    reason = serializers.CharField(
        help_text="Why: the first of `reasons`. New reasons may come: treat one you do not know "
        "as its verdict says"
    )
    reasons = serializers.ListField(
        child=serializers.CharField(), help_text="All that speaks for the verdict"
    )
    score = serializers.IntegerField(
        allow_null=True,
        min_value=0,
        max_value=100,
        help_text="0 for undeliverable, 10 to 69 for risky, 70 to 100 for deliverable, null for "
        "unknown",
    )
    evidence = serializers.ChoiceField(
        ["syntax", "dns", "smtp"], help_text="How far the service looked"
    )
    safe_to_send = serializers.BooleanField(
        allow_null=True,
        help_text="True only where the mailbox itself was accepted; null where that was not asked",
    )
    accept_for_signup = serializers.BooleanField(
        help_text="Whether a sign-up form should let it in; show `did_you_mean` beside it"
    )
    did_you_mean = serializers.CharField(allow_null=True, help_text="A whole address")
    retry_after_s = serializers.IntegerField(
        allow_null=True,
        help_text="How many seconds to wait before asking again, after an unknown",
    )
    local_part = serializers.CharField(allow_null=True, help_text="What stands before the @")
    tag = serializers.CharField(allow_null=True, help_text="What stands after the +")
    domain = serializers.CharField(allow_null=True, help_text="What stands after it, in Unicode")
    ascii_domain = serializers.CharField(allow_null=True, help_text="The same as the DNS has it")
    registrable_domain = serializers.CharField(
        allow_null=True, help_text="The part of the domain that somebody registered"
    )
    checks = ChecksSerializer(help_text="Null: not run, or it could not tell")
    syntax_error = SyntaxErrorSerializer(allow_null=True, help_text="What is wrongly written")
    mx = MxSerializer(help_text="Where mail to the domain goes")
    domain_auth = DomainAuthSerializer(help_text="Null where not learned")
    smtp = serializers.DictField(allow_null=True, help_text="Null until mailbox checks exist")
    lists = serializers.DictField(child=serializers.CharField(), help_text="Dates of lists asked")
    duration_ms = serializers.IntegerField(min_value=0, help_text="How long the checks took")
    dns_cached = serializers.BooleanField(
        allow_null=True, help_text="Whether the DNS answers were known already; null: none asked"
    )
    credits = ResultCreditsSerializer(help_text="A definite verdict costs 1, an unknown nothing")


class UsageDaySerializer(Described):
    date = serializers.DateField(help_text="In UTC")
    requests = serializers.IntegerField(
        min_value=0, help_text="Validations; without the sandbox and answers given again"
    )
    credits = serializers.IntegerField(min_value=0, help_text="What they cost")
    deliverable = serializers.IntegerField(min_value=0, help_text="So many of each verdict")
    risky = serializers.IntegerField(min_value=0, help_text="The same")
    undeliverable = serializers.IntegerField(min_value=0, help_text="The same")
    unknown = serializers.IntegerField(min_value=0, help_text="The same; they are free")


class UsageSerializer(Described):
    # `from` is a Python keyword.
    vars()["from"] = serializers.DateField(help_text="The first day")
    to = serializers.DateField(help_text="The last day")
    days = UsageDaySerializer(many=True, help_text="Each day of them, also those without use")
