from django.db import models


class SignUpPlace(models.Model):
    """Records that an account at a domain received sign-up credits, naming neither."""

    # HMAC of the registrable domain, keyed with ADDRESS_HASH_KEY.
    domain_digest = models.CharField(max_length=64)
    slot = models.PositiveIntegerField()
    taken_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["domain_digest", "slot"], name="sign_up_place_is_one")
        ]

    def __str__(self) -> str:
        return f"Place {self.slot} since {self.taken_at}"
