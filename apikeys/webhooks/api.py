from datetime import timedelta
from functools import partial
from typing import Any

from django.http import Http404
from rest_framework.response import Response

from accounts.models import Account, Delivery, WebhookEndpoint
from accounts.webhooks import services
from apikeys.actor import Actor
from apikeys.errors import ApiError, limit_exceeded, unauthorized
from apikeys.request import ApiRequest
from apikeys.rest.request_body import invalid_field, read_object, refuse_unknown_fields
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import BODY_ERRORS, describe, id_parameter
from apikeys.rest.serializers import ApiSerializer
from apikeys.rest.view import ApiView
from apikeys.webhooks import serializers
from apikeys.webhooks.serializers import DeliverySerializer, WebhookSerializer

_ACTION_ERRORS = (*BODY_ERRORS, "invalid_state")

WEBHOOK_ID = id_parameter("webhook", serializers.WEBHOOK_ID_EXAMPLE)
DELIVERY_ID = id_parameter("delivery", serializers.DELIVERY_ID_EXAMPLE)
describe_webhook = partial(
    describe, tag="Webhooks", scope="webhooks:write", parameters=[WEBHOOK_ID]
)


class WebhooksApiView(ApiView):
    endpoint: WebhookEndpoint
    # The parsed body.
    values: dict[str, Any]
    # None: no body is needed. An empty object is fine.
    request_serializer: type[ApiSerializer] | None = None

    @property
    def account(self) -> Account:
        return self.request.call.key.account

    @property
    def actor(self) -> Actor:
        return Actor.of_call(self.request.call)

    def find_object(self) -> None:
        if "webhook_id" in self.kwargs:
            public_id = self.kwargs["webhook_id"].replace("\0", "")
            self.endpoint = self.account.webhooks.get(public_id=public_id)

    def prepare(self) -> None:
        if self.request.method not in {"POST", "PATCH"}:
            return
        if self.request_serializer:
            self.values = self.request_serializer.parse(read_object(self.request))
        elif int(self.request.META.get("CONTENT_LENGTH") or 0):
            refuse_unknown_fields(read_object(self.request))

    def handle_exception(self, exc: Exception) -> Response:
        match exc:
            case services.UrlRefused():
                exc = invalid_field("url", f"url {exc}.")
            case services.TooManyWebhooks():
                details = {"limit": services.MAX_WEBHOOKS}
                exc = ApiError("too_many_webhooks", str(exc), details=details)
            case services.EndpointIsDisabled():
                exc = ApiError("invalid_state", str(exc), details={"state": "disabled"})
            case services.HasTooManyAttempts():
                exc = ApiError(
                    "invalid_state", str(exc), details={"attempts": services.MAX_ATTEMPTS}
                )
            case services.LimitReached(what=what, limit=limit, ends=ends):
                exc = limit_exceeded(what, limit=limit, window=services.LIMIT_WINDOW, ends=ends)
            case services.AccountIsClosed():
                exc = unauthorized("api_key_revoked")
            case WebhookEndpoint.DoesNotExist() | Delivery.DoesNotExist():
                exc = Http404()
        return super().handle_exception(exc)


class WebhooksView(WebhooksApiView):
    request_serializer = serializers.WebhookRequestSerializer

    @describe_webhook(
        "show-webhooks",
        "List your webhooks",
        f"Returns all webhooks of the account, of which there can be {services.MAX_WEBHOOKS}.",
        serializers.WebhookListSerializer,
        parameters=[],
    )
    def get(self, request: ApiRequest) -> ApiResponse:
        endpoints = WebhookSerializer(self.account.webhooks, many=True)
        return json_response({"data": endpoints.data})

    @describe_webhook(
        "create-webhook",
        "Create a webhook",
        "Sends the account's events to a URL from now on. This response is the only one with the "
        "`secret`: store it where your server can read it.",
        serializers.WebhookSecretSerializer,
        parameters=[],
        request=serializers.WebhookRequestSerializer,
        refusals=["too_many_webhooks"],
        status=201,
    )
    def post(self, request: ApiRequest) -> ApiResponse:
        chosen = {"types": None, **self.values}
        created = services.create_endpoint(account=self.account, actor=self.actor, **chosen)
        endpoint, secret = created
        document = {**WebhookSerializer(endpoint).data, "secret": secret}
        return json_response(document, status=201)


class OneWebhookView(WebhooksApiView):
    request_serializer = serializers.WebhookChangesSerializer

    @describe_webhook(
        "show-webhook",
        "Get a webhook",
        "Returns a webhook without its secret.",
        serializers.WebhookSerializer,
    )
    def get(self, request: ApiRequest, webhook_id: str) -> ApiResponse:
        return json_response(WebhookSerializer(self.endpoint).data)

    @describe_webhook(
        "change-webhook",
        "Change a webhook",
        "Changes the fields that you send. Disabling a webhook turns its waiting deliveries into "
        "failed ones. Those of later events fail, too, until you enable it and replay them.",
        serializers.WebhookSerializer,
        request=serializers.WebhookChangesSerializer,
    )
    def patch(self, request: ApiRequest, webhook_id: str) -> ApiResponse:
        changes = self.values
        if "state" in changes:
            changes["is_enabled"] = changes.pop("state") == "active"
        changed = services.change_endpoint(endpoint=self.endpoint, actor=self.actor, **changes)
        return json_response(WebhookSerializer(changed).data)

    @describe_webhook(
        "delete-webhook",
        "Delete a webhook",
        "Deletes a webhook with its deliveries. Nothing more is sent to it.",
        serializers.DeletedWebhookSerializer,
    )
    def delete(self, request: ApiRequest, webhook_id: str) -> ApiResponse:
        services.delete_endpoint(endpoint=self.endpoint, actor=self.actor)
        return json_response({"id": webhook_id, "deleted": True})


class RotateView(WebhooksApiView):
    request_serializer = serializers.RotationSerializer

    @describe_webhook(
        "rotate-webhook",
        "Rotate the keys of a webhook",
        "Replaces the secret and the public key. For as long as you choose, requests have the "
        "signatures of the old ones, too.",
        serializers.WebhookSecretSerializer,
        request=serializers.RotationSerializer,
    )
    def post(self, request: ApiRequest, webhook_id: str) -> ApiResponse:
        period = timedelta(seconds=self.values["keep_old_for"])
        secret = services.rotate_endpoint(
            endpoint=self.endpoint, keep_old_for=period, actor=self.actor
        )
        return json_response({**WebhookSerializer(self.endpoint).data, "secret": secret})


class TestView(WebhooksApiView):
    @describe_webhook(
        "test-webhook",
        "Send a test event",
        "Sends an event of the type `webhook.test` to this webhook only, whatever types it has. "
        "Within seconds, its deliveries show the result.",
        serializers.SentTestSerializer,
        refusals=_ACTION_ERRORS,
        status=202,
    )
    def post(self, request: ApiRequest, webhook_id: str) -> ApiResponse:
        event = services.send_test(endpoint=self.endpoint, actor=self.actor)
        return json_response({"event": event.public_id}, status=202)


class DeliveriesView(WebhooksApiView):
    def prepare(self) -> None:
        chosen = serializers.DeliveriesQuery.parse_query(self.request)
        self.limit = chosen.get("limit", 20)
        found = self.endpoint.deliveries.order_by("-pk").select_related("event")
        if "state" in chosen:
            found = found.filter(state=chosen["state"])
        if "type" in chosen:
            found = found.filter(event__type__in=chosen["type"])
        if "starting_after" in chosen:
            public_id = chosen["starting_after"].replace("\0", "")
            first = self.endpoint.deliveries.filter(public_id=public_id).first()
            if first is None:
                message = "This webhook has no delivery with this ID. IDs start with dlv_."
                raise invalid_field("starting_after", message)
            found = found.filter(pk__lt=first.pk)
        self.deliveries = found.prefetch_related("delivery_attempts")

    @describe_webhook(
        "show-deliveries",
        "List deliveries",
        "Returns the deliveries of a webhook with all their attempts, newest first. They are "
        "deleted with their events, after 30 days.",
        serializers.DeliveryPageSerializer,
        parameters=[WEBHOOK_ID, serializers.DeliveriesQuery],
    )
    def get(self, request: ApiRequest, webhook_id: str) -> ApiResponse:
        found = list(self.deliveries[: self.limit + 1])
        data = DeliverySerializer(found[: self.limit], many=True).data
        after = data[-1]["id"] if len(found) > self.limit else None
        return json_response({"data": data, "has_more": after is not None, "next": after})


class ReplayView(WebhooksApiView):
    def find_object(self) -> None:
        super().find_object()
        self.delivery = self.find_delivery()

    def find_delivery(self) -> Delivery:
        found = self.endpoint.deliveries.select_related("event", "endpoint")
        return found.get(public_id=self.kwargs["delivery_id"].replace("\0", ""))

    @describe_webhook(
        "replay-delivery",
        "Replay a delivery",
        "Sends an event again, delivered or not, with the same body and ID, signed with the "
        "current keys. If it fails, it is retried like a new one.",
        serializers.DeliverySerializer,
        parameters=[WEBHOOK_ID, DELIVERY_ID],
        refusals=_ACTION_ERRORS,
        status=202,
    )
    def post(self, request: ApiRequest, webhook_id: str, delivery_id: str) -> ApiResponse:
        services.replay_delivery(delivery=self.delivery, actor=self.actor)
        return json_response(DeliverySerializer(self.find_delivery()).data, status=202)


class ReplayFailedView(WebhooksApiView):
    request_serializer = serializers.FailedSinceSerializer

    @describe_webhook(
        "replay-failed",
        "Replay failed deliveries",
        "Sends all events again that were recorded since a time and whose delivery failed, or is "
        "waiting for another attempt after a failed one.",
        serializers.ReplayedSerializer,
        request=serializers.FailedSinceSerializer,
        refusals=["invalid_state"],
        status=202,
    )
    def post(self, request: ApiRequest, webhook_id: str) -> ApiResponse:
        replayed = services.replay_failed(
            endpoint=self.endpoint, since=self.values["failed_since"], actor=self.actor
        )
        return json_response({"replayed": replayed}, status=202)
