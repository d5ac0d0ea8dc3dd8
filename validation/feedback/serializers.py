"""Describe requests and responses for the OpenAPI schema. These serializers validate nothing."""

from rest_framework import serializers

from validation.feedback.services import MAX_BOUNCE_LENGTH, MAX_COMMENT_LENGTH
from validation.models import Feedback
from validation.results.serializers import Described


class FeedbackRequestSerializer(Described):
    expected = serializers.ChoiceField(
        Feedback.Expected.values, help_text="What you know about the address"
    )
    comment = serializers.CharField(
        allow_null=True, required=False, max_length=MAX_COMMENT_LENGTH, help_text="How you know"
    )
    bounce = serializers.CharField(
        allow_null=True,
        required=False,
        max_length=MAX_BOUNCE_LENGTH,
        help_text="The message that the mail server returned",
    )


class FeedbackSerializer(Described):
    id = serializers.CharField(help_text="Feedback ID (`fbk_…`)")
    state = serializers.ChoiceField(
        [Feedback.State.OPEN], help_text="Our staff have not answered yet"
    )
