from django.urls import path

from credits.views import automatic_payments, billing, checkout, orders, stripe

app_name = "credits"

urlpatterns = [
    path("", billing.show_billing, name="show-billing"),
    path("ledger/", billing.show_ledger, name="show-ledger"),
    path("threshold/", billing.change_threshold, name="change-threshold"),
    path("card/", automatic_payments.save_card, name="save-card"),
    path("card/remove/", automatic_payments.remove_card, name="remove-card"),
    path(
        "automatic-top-up/", automatic_payments.edit_automatic_top_up, name="edit-automatic-top-up"
    ),
    path(
        "automatic-top-up/off/",
        automatic_payments.switch_off_automatic_top_up,
        name="switch-off-automatic-top-up",
    ),
    path("packs/", checkout.choose_pack, name="choose-pack"),
    path("packs/<public_id:pack_id>/", checkout.order_pack, name="order-pack"),
    path("plans/", checkout.choose_plan, name="choose-plan"),
    path("plans/<slug:plan_code>/", checkout.order_plan, name="order-plan"),
    path("plans/<slug:plan_code>/later/", checkout.choose_later_plan, name="choose-later-plan"),
    path("orders/", orders.show_orders, name="show-orders"),
    path("orders/<public_id:order_id>/", orders.show_order, name="show-order"),
    path("orders/<public_id:order_id>/invoice/", orders.show_invoice, name="show-invoice"),
    path(
        "orders/<public_id:order_id>/invoice.pdf", orders.download_invoice, name="download-invoice"
    ),
    path("orders/<public_id:order_id>/pay/", orders.pay_order, name="pay-order"),
    path("orders/<public_id:order_id>/cancel/", orders.cancel_order, name="cancel-order"),
    path("stripe/", stripe.receive_event, name="receive-stripe-event"),
]
