from apikeys.rest.routes import operation
from apikeys.webhooks import api

# A malformed id gets the same 404 as an unknown one.
_WEBHOOK = "v1/webhooks/<str:webhook_id>"

WEBHOOK_OPERATIONS = [
    *operation("v1/webhooks", api.WebhooksView),
    *operation(_WEBHOOK, api.OneWebhookView),
    *operation(f"{_WEBHOOK}/rotate", api.RotateView),
    *operation(f"{_WEBHOOK}/test", api.TestView),
    *operation(f"{_WEBHOOK}/deliveries", api.DeliveriesView),
    *operation(f"{_WEBHOOK}/deliveries/<str:delivery_id>/replay", api.ReplayView),
    *operation(f"{_WEBHOOK}/replay", api.ReplayFailedView),
]
