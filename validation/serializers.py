"""What a validation takes and answers, for the API description. Nothing is validated with them."""

from typing import Any

from rest_framework import serializers

from validation.engine.verdict import CHECKS, Verdict

Described = serializers.Serializer[Any]


class ValidateSerializer(Described):
    email = serializers.CharField(
        min_length=1,
        max_length=320,
        trim_whitespace=False,
        help_text="The address, as it stands: nothing is trimmed",
    )


def _checks() -> type[Described]:
    fields = {name: serializers.BooleanField(allow_null=True) for name in CHECKS}
    return type("ChecksSerializer", (serializers.Serializer,), fields)


ChecksSerializer = _checks()


class SyntaxErrorSerializer(Described):
    code = serializers.CharField(help_text="Stable")
    message = serializers.CharField(help_text="A sentence for people")


class MxRecordSerializer(Described):
    preference = serializers.IntegerField()
    host = serializers.CharField()


class MxSerializer(Described):
    provider = serializers.CharField(allow_null=True, help_text="`google`, `microsoft_365`, …")
    fallback = serializers.ChoiceField(
        ["a", "aaaa"],
        allow_null=True,
        help_text="There is no MX record, and mail would go to the domain's own address",
    )
    records = MxRecordSerializer(many=True)


class DomainAuthSerializer(Described):
    spf = serializers.ChoiceField(["none", "soft", "strict", "denies_all"], allow_null=True)
    dmarc = serializers.ChoiceField(["none", "quarantine", "reject"], allow_null=True)


class ResultCreditsSerializer(Described):
    charged = serializers.IntegerField(allow_null=True)
    remaining = serializers.IntegerField(allow_null=True)


class ResultSerializer(Described):
    id = serializers.CharField(help_text="`val_…`; name it to support")
    created_at = serializers.DateTimeField()
    sandbox = serializers.BooleanField(help_text="An invented answer, for trying")
    email = serializers.CharField(help_text="As it was sent")
    normalized = serializers.CharField(
        allow_null=True, help_text="In Unicode NFC, domain lower-case"
    )
    canonical = serializers.CharField(
        allow_null=True, help_text="The mailbox behind aliases, by rules of known providers"
    )
    verdict = serializers.ChoiceField([verdict.value for verdict in Verdict])
    reason = serializers.CharField(
        help_text="Why: the first of `reasons`. New reasons may come: treat one you do not know "
        "as its verdict says"
    )
    reasons = serializers.ListField(child=serializers.CharField())
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
    safe_to_send = serializers.BooleanField(allow_null=True)
    accept_for_signup = serializers.BooleanField(
        help_text="Whether a sign-up form should let it in; show `did_you_mean` beside it"
    )
    did_you_mean = serializers.CharField(allow_null=True, help_text="A whole address")
    retry_after_s = serializers.IntegerField(
        allow_null=True, help_text="When asking again makes sense, after an unknown"
    )
    local_part = serializers.CharField(allow_null=True)
    tag = serializers.CharField(allow_null=True, help_text="What stands after the +")
    domain = serializers.CharField(allow_null=True)
    ascii_domain = serializers.CharField(allow_null=True)
    registrable_domain = serializers.CharField(allow_null=True)
    checks = ChecksSerializer(help_text="Null: not run, or it could not tell")
    syntax_error = SyntaxErrorSerializer(allow_null=True)
    mx = MxSerializer()
    domain_auth = DomainAuthSerializer(help_text="Null where not learned")
    smtp = serializers.DictField(allow_null=True, help_text="Null until mailbox checks exist")
    lists = serializers.DictField(child=serializers.CharField(), help_text="Dates of lists asked")
    duration_ms = serializers.IntegerField(min_value=0)
    dns_cached = serializers.BooleanField(allow_null=True)
    credits = ResultCreditsSerializer(help_text="Null until credits are counted")
