from apikeys.rest import fields
from apikeys.rest.serializers import ApiSerializer
from validation.feedback.services import MAX_BOUNCE_LENGTH, MAX_COMMENT_LENGTH
from validation.models import Feedback


class FeedbackRequestSerializer(ApiSerializer):
    expected = fields.Choice("What you know about the address", Feedback.Expected.values)
    comment = fields.String(
        "How you know", required=False, allow_null=True, max_length=MAX_COMMENT_LENGTH
    )
    bounce = fields.String(
        "The message that the mail server returned",
        required=False,
        allow_null=True,
        max_length=MAX_BOUNCE_LENGTH,
    )

    examples = {
        "A bounce": {
            "expected": "undeliverable",
            "comment": "We sent a newsletter, and it bounced.",
            "bounce": "550 5.1.1 Mailbox does not exist",
        }
    }


class FeedbackSerializer(ApiSerializer):
    id = fields.String("Feedback ID (`fbk_…`)")
    state = fields.Choice("Our staff have not answered yet", [Feedback.State.OPEN])

    examples = {"Accepted": {"id": "fbk_5Hc9TfWnQ3sEvXy7BgMk", "state": "open"}}
