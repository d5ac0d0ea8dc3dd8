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
    """Stripe's webhook: its signature stands for the sign-in. What is not 200 it sends again."""
    if not settings.STRIPE_SECRET_KEY:
        raise Http404
    from credits.payments import stripe_events as stripe

    try:
        stripe.receive_event(request.body, request.headers.get("Stripe-Signature", ""))
    except stripe.ForgedEvent:
        return HttpResponse("This event is not signed.", status=400, content_type="text/plain")
    except stripe.OddEvent:
        return HttpResponse("This is no event.", status=400, content_type="text/plain")
    except (stripe.EventTooEarly, PaymentUnavailable):
        return HttpResponse("Send it again later.", status=503, content_type="text/plain")
    return HttpResponse(status=200)
