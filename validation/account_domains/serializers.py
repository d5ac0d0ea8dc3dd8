from apikeys.errors import ApiError
from apikeys.rest import fields
from apikeys.rest.request_body import invalid_field
from apikeys.rest.serializers import ApiSerializer
from validation.account_domains.entries import parse_entries
from validation.account_domains.services import MAX_ENTRIES


class DomainsRequestSerializer(ApiSerializer):
    allowed = fields.Strings(
        "Domains whose addresses you accept at sign-up",
        child=fields.String(max_length=300, check_length=False),
    )
    denied = fields.Strings(
        "Domains whose addresses you reject",
        child=fields.String(max_length=300, check_length=False),
    )

    examples = {
        "Two lists": {"allowed": ["partner.example"], "denied": ["Spam.example", "bücher.example"]}
    }

    def validate(self, texts: dict[str, list[str]]) -> dict[str, list[str]]:
        count = sum(map(len, texts.values()))
        if count > MAX_ENTRIES:
            message = f"There are {count:,} entries. Both lists together can have {MAX_ENTRIES:,}."
            raise ApiError("invalid_field", message, details={"max": MAX_ENTRIES})
        return {name: _parse(name, texts[name]) for name in ("allowed", "denied")}


def _parse(name: str, texts: list[str]) -> list[str]:
    domains, problems = parse_entries(texts)
    if problems:
        errors = [
            {"param": f"{name}[{index}]", "message": f"{name}[{index}]: {problem}"}
            for index, problem in problems.items()
        ]
        raise invalid_field(**errors[0], details={"errors": errors})
    return domains


class DomainsSerializer(ApiSerializer):
    allowed = fields.Strings("Allowed domains in lowercase ASCII")
    denied = fields.Strings("Denied domains in lowercase ASCII. A domain on both lists is denied")

    examples = {
        "Two lists": {
            "allowed": ["partner.example"],
            "denied": ["spam.example", "xn--bcher-kva.example"],
        }
    }
