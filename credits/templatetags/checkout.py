from django import template

from credits.presenters import checkout, invoice, orders, plans, prices

register = template.Library()
register.filter(prices.plan_price)
register.filter(prices.plan_credits)
register.filter(prices.limit_after_purchase)
register.filter(orders.order_badge)
register.filter(orders.due_date)
register.filter(invoice.buyer_lines)
register.simple_tag(checkout.order_terms)
register.simple_tag(plans.describe_plan_change)
register.simple_tag(plans.plan_card)
register.simple_tag(plans.plan_notice)
register.simple_tag(prices.card_price)
