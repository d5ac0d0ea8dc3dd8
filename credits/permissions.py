from apikeys.authentication.permissions import ApiPermission
from apikeys.request import ApiRequest
from credits.wallet.charges import charges_refused, insufficient_credits
from credits.wallet.key_limits import refuse_unaffordable


class HasCredits(ApiPermission):
    """Refuse requests with 402 before any work: by the balance, then by the key's limit.

    The balance was read with the key and may be stale. The charge checks it again.
    """

    def check(self, request: ApiRequest) -> None:
        price, wallet = request.call.price, request.call.key.account.wallet
        if price > wallet.balance:
            charges_refused.inc()
            raise insufficient_credits(wallet, required=price)
        refuse_unaffordable(request.call.key, price)
