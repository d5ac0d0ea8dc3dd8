from apikeys.permissions import ApiPermission
from apikeys.request import ApiRequest
from credits.wallet.charges import charges_refused, insufficient_credits
from credits.wallet.key_limits import refuse_unaffordable


class HasCredits(ApiPermission):
    """Refuses requests with 402 before any work if the balance is below the call's price.

    The same if less than the price is left of the key's own limit, if it has one. The balance comes
    first, because it refuses the requests of all keys.

    Authentication read the balance together with the key, so it may be slightly stale. Requests
    that pass are charged by a conditional statement, which checks the balance again.
    """

    def check(self, request: ApiRequest) -> None:
        price, wallet = request.call.price, request.call.key.account.wallet
        if price > wallet.balance:
            charges_refused.inc()
            raise insufficient_credits(required=price, balance=wallet.balance, held=wallet.held)
        refuse_unaffordable(request.call.key, price)
