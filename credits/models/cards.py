"""Cards saved at the payment provider. Card numbers never reach our servers."""

from django.db import models
from django.utils import timezone

from accounts.models import Account

# The audit log stores this text.
CARD_CONSENT = (
    "You agree that we save this card at Stripe and charge it without asking you each time: for "
    "automatic top-ups that you switch on, and for renewals of your plan. You can remove the card "
    "at any time."
)


class SavedCard(models.Model):
    account = models.OneToOneField(
        Account, primary_key=True, on_delete=models.CASCADE, related_name="saved_card"
    )
    provider_card = models.CharField(max_length=100, unique=True, editable=False)
    provider_customer = models.CharField(max_length=100, editable=False)
    brand = models.CharField(max_length=30)
    last_four = models.CharField(max_length=4)
    expires_month = models.PositiveSmallIntegerField()
    expires_year = models.PositiveSmallIntegerField()
    saved_at = models.DateTimeField(default=timezone.now)
    # False until the provider renews the plan with this card.
    pays_renewals = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"{self.brand} ending in {self.last_four}"

    @property
    def expires(self) -> str:
        return f"{self.expires_month:02}/{self.expires_year}"

    @property
    def is_expired(self) -> bool:
        today = timezone.now().date()
        return (self.expires_year, self.expires_month) < (today.year, today.month)


class CardToDetach(models.Model):
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    provider_card = models.CharField(max_length=100, unique=True)

    def __str__(self) -> str:
        return self.provider_card
