from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from credits.payments import PaymentUnavailable


@csrf_exempt
@login_not_required
@require_POST
def receive_event(request: HttpRequest) -> HttpResponse:
    """The signature authenticates the request. Stripe retries until a 200."""
    if not settings.STRIPE_SECRET_KEY:
        raise Http404
    from credits.payments.stripe import events
    from credits.payments.stripe.payloads import EventTooEarly

    try:
        events.receive_event(request.body, request.headers.get("Stripe-Signature", ""))
    except events.InvalidSignature:
        return HttpResponse(
            "The event has no valid signature.", status=400, content_type="text/plain"
        )
    except events.InvalidEvent:
        return HttpResponse("The body is not an event.", status=400, content_type="text/plain")
    except (EventTooEarly, PaymentUnavailable):
        return HttpResponse("Retry later.", status=503, content_type="text/plain")
    return HttpResponse(status=200)
