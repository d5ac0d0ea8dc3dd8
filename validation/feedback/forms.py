from django import forms

from validation.feedback.services import MAX_BOUNCE_LENGTH, MAX_COMMENT_LENGTH
from validation.models import Feedback


class FeedbackForm(forms.Form):
    expected = forms.ChoiceField(
        label="What did you expect?", choices=Feedback.Expected.choices, widget=forms.RadioSelect
    )
    comment = forms.CharField(
        label="Comment (optional)",
        help_text="How do you know?",
        required=False,
        max_length=MAX_COMMENT_LENGTH,
        widget=forms.Textarea({"rows": 3}),
    )
    bounce = forms.CharField(
        label="Bounce message (optional)",
        help_text="What the mail server returned.",
        required=False,
        max_length=MAX_BOUNCE_LENGTH,
        widget=forms.Textarea({"rows": 5, "spellcheck": "false"}),
    )


class AnswerForm(forms.Form):
    answer = forms.CharField(max_length=1000, widget=forms.Textarea({"rows": 6, "cols": 80}))
