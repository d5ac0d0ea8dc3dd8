from credits.models.automatic_top_ups import AutomaticOrder, AutomaticTopUp
from credits.models.cards import CARD_CONSENT, CardToDetach, SavedCard
from credits.models.catalog import Pack, Plan
from credits.models.grants import GrantState, StaffGrant
from credits.models.holds import Hold
from credits.models.invoice_files import InvoiceFile
from credits.models.ledger import EntryKind, LedgerEntry
from credits.models.orders import (
    InvoiceCounter,
    Order,
    OrderKind,
    OrderMethod,
    OrderState,
    ProviderEvent,
)
from credits.models.refunds import Refund, list_refunds
from credits.models.subscriptions import ProviderCancellation, SignUpPlace, Subscription
from credits.models.usage import UseDay, UseHour
from credits.models.wallets import Wallet
